/** Watches the main thread from another one. Nothing else can notice that it does not respond. */
import { url as debuggerUrl } from 'node:inspector'
import type { Log } from '../log/logger.ts'
import { createPulse, startBeating } from '../threads/pulse.ts'
import { Thread } from '../threads/thread.ts'
import type { WatchdogData } from './watchdog-thread.ts'

export interface Watchdog {
  stop(): void
}

/** `unresponsiveSeconds` of 0 watches nothing. */
export function startWatchdog(unresponsiveSeconds: number, log: Log): Watchdog {
  // A developer may be looking at a breakpoint.
  if (unresponsiveSeconds === 0 || debuggerUrl() !== undefined) return { stop() {} }
  const pulse = createPulse()
  const beating = startBeating(pulse)
  const worker = new Thread(new URL('./watchdog-thread.ts', import.meta.url), {
    name: 'watchdog',
    workerData: { pulse, unresponsiveSeconds } satisfies WatchdogData,
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
  })
  worker.on('error', (err) => log.error({ err }, 'the watchdog of the main thread ended'))
  worker.unref()
  return {
    stop() {
      beating.stop()
      void worker.terminate()
    },
  }
}
