import { pause } from './pause.ts'

/** A pause that can be ended early. For one waiter. */
export interface Alarm {
  /** Ends the wait, or the next one if nobody waits. */
  ring(): void
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createAlarm(): Alarm {
  let isRung = false
  let end: (() => void) | undefined
  return {
    ring() {
      isRung = true
      end?.()
    },

    async wait(ms, signal) {
      if (!isRung) {
        const rung = new AbortController()
        end = () => rung.abort()
        await pause(ms, AbortSignal.any([signal, rung.signal]))
        end = undefined
      }
      isRung = false
    },
  }
}
