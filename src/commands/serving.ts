/** Serves until a signal asks to stop. */
import { exitCodes } from '../core/fatal-error.ts'
import type { Log } from '../platform/log/logger.ts'

/** Requests get ten seconds; the database and the rest get what is left of this. */
const maxStopMs = 20_000

export interface Served {
  close(): Promise<void>
}

/** `listen` begins to serve; where it cannot, everything is closed again. */
export async function serve(app: Served, log: Log, listen: () => Promise<void>): Promise<void> {
  process.once('uncaughtException', (error) => {
    // Nobody knows what state this left behind: a supervisor starts a clean process.
    log.fatal({ err: error }, 'unforeseen error, stopping')
    log.flush()
    process.exit(exitCodes.internal)
  })

  let isStopping = false
  const stop = async (signal: NodeJS.Signals) => {
    // npm hands Ctrl-C on to a process that has already got it from the terminal: the second signal is ignored.
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('something would not end in time, stopping all the same')
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
