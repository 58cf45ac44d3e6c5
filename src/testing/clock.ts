import { type Clock, createSharedClock, steadyNow, systemClock } from '../core/clock.ts'

/** A running clock that can be advanced. */
export interface MovableClock extends Clock {
  advance(seconds: number): void
  /** For the same clock in another thread. */
  readonly memory: SharedArrayBuffer
}

/** TOTP codes change every 30 seconds. A clock that starts with a period keeps a short test within it. */
const periodMs = 30_000

export interface Beginning {
  at: number
  startedAt: number
}

export function beginNow(): Beginning {
  const now = systemClock.now()
  return { at: now - (now % periodMs), startedAt: steadyNow() }
}

/** Advances to the next period, where a new clock starts. */
export function startPeriod(clock: MovableClock): void {
  clock.advance((periodMs - (clock.now() % periodMs)) / 1000)
}

export function createMovableClock({ at, startedAt }: Beginning = beginNow()): MovableClock {
  const memory = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)
  const offset = new Float64Array(memory)
  offset[0] = at - startedAt
  return {
    ...createSharedClock(memory),
    memory,
    advance(seconds) {
      offset[0] = (offset[0] as number) + seconds * 1000
    },
  }
}
