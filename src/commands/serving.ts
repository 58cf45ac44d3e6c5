/** Serves until a signal asks to stop. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stoppable } from '../app/create-app.ts'
import { exitCodes } from '../core/fatal-error.ts'
import type { Log } from '../platform/log/logger.ts'
import { keepStopShort, stopTimesOf } from '../platform/process/stop-times.ts'
import { startWatchdog } from '../platform/process/watchdog.ts'

export interface ServingOptions {
  log: Log
  drainSeconds: number
  unresponsiveSeconds: number
  isDevelopment: boolean
}

/** On Ctrl-C the terminal signals the whole process group, and npm forwards the signal once more. */
const sameSignalMs = 500
/** After a second signal, for requests in flight. */
const hurryMs = 1000
/** The thread of the watchdog takes its own time to start. */
const watchAfterMs = 500
const stopSignals = ['SIGTERM', 'SIGINT'] as const

/** Closes the app if `listen` fails. */
export async function serve(app: Stoppable, options: ServingOptions, listen: () => Promise<void>): Promise<void> {
  process.once('uncaughtException', (error) => endAtOnce(options.log, error, 'unforeseen error, stopping'))
  stopOnSignals(app, options)
  keepStopShort(options)
  try {
    await listen()
    watchAfterStart(options)
  } catch (error) {
    await app.close()
    throw error
  }
}

/** The start does not count, nor does the stop. */
function watchAfterStart({ unresponsiveSeconds, log }: ServingOptions): void {
  const starting = setTimeout(() => {
    const watchdog = startWatchdog(unresponsiveSeconds, log)
    for (const signal of stopSignals) process.once(signal, watchdog.stop)
  }, watchAfterMs).unref()
  for (const signal of stopSignals) process.once(signal, () => clearTimeout(starting))
}

/** For `onWriterDeath`: nothing works without that thread, and what it was doing is not known. */
export function endOnWriterDeath(log: Log): (error: Error) => void {
  // Those who wait for it get their errors first.
  return (error) => setImmediate(endAtOnce, log, error, 'the thread that writes the database died, stopping')
}

/** The state of the process is unknown. The supervisor starts a clean one. */
function endAtOnce(log: Log, error: Error, message: string): never {
  log.fatal({ err: error }, message)
  log.flush()
  process.exit(exitCodes.internal)
}

/** The first signal stops the service as described at `Stoppable`. A second one ends the waiting. */
function stopOnSignals(app: Stoppable, { log, drainSeconds, isDevelopment }: ServingOptions): void {
  const times = stopTimesOf(drainSeconds)
  const hurry = new AbortController()
  let stoppingSince: number | undefined

  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now()
    if (stoppingSince === undefined) {
      stoppingSince = now
      void stop(signal)
    } else if (now - stoppingSince > sameSignalMs && !hurry.signal.aborted) {
      log.info({ signal }, 'stopping without further waiting')
      hurry.abort()
      setTimeout(() => app.cutOff(), hurryMs).unref()
    }
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('the shutdown timed out; exiting')
      log.flush()
      process.exit(exitCodes.internal)
    }, times.totalMs).unref()
    app.drain()
    // Ctrl-C at a developer's terminal: there is no proxy to wait for.
    const isImmediate = signal === 'SIGINT' && isDevelopment
    if (times.drainMs > 0 && !isImmediate)
      await sleep(times.drainMs, undefined, { signal: hurry.signal }).catch(() => {})
    await app.close()
    log.info('stopped')
    log.flush()
    process.exit(0)
  }

  for (const signal of stopSignals) process.on(signal, onSignal)
}
