/** Serves until a signal asks to stop. */
import { exitCodes } from '../core/fatal-error.ts'
import type { Log } from '../platform/log/logger.ts'

/** Requests get ten seconds of this to finish; the rest is for closing everything else. */
const maxStopMs = 20_000

export interface Served {
  close(): Promise<void>
}

/** Closes the app if `listen` fails. */
export async function serve(app: Served, log: Log, listen: () => Promise<void>): Promise<void> {
  process.once('uncaughtException', (error) => {
    // The state of the process is unknown after this. The supervisor starts a clean one.
    log.fatal({ err: error }, 'unforeseen error, stopping')
    log.flush()
    process.exit(exitCodes.internal)
  })

  let isStopping = false
  const stop = async (signal: NodeJS.Signals) => {
    // On Ctrl-C the terminal signals the whole process group, and npm forwards the signal once more.
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('the shutdown timed out; exiting')
      log.flush()
      process.exit(exitCodes.internal)
    }, maxStopMs).unref()
    await app.close()
    log.info('stopped')
    log.flush()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  try {
    await listen()
  } catch (error) {
    await app.close()
    throw error
  }
}
