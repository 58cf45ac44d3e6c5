import { createApp } from '../app.ts'
import { exitCodes } from '../core/fatal-error.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

/** Requests get ten seconds; the database and the rest get what is left of this. */
const maxStopMs = 20_000

/** Serves until a signal asks it to stop. */
export async function start(options: GlobalOptions): Promise<void> {
  const { config, log } = readSettings(options, { forService: true })
  const app = await createApp({ config, log })

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
    const { url, wsUrl } = await app.listen()
    log.info({ url, wsUrl, host: config.server.host, environment: config.environment }, 'Latchkey is listening')
  } catch (error) {
    await app.close()
    throw error
  }
}
