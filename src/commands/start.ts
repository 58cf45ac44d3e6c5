import { createApp } from '../app.ts'
import { serve } from './serving.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

/** Serves until a signal asks it to stop. */
export async function start(options: GlobalOptions): Promise<void> {
  const { config, log } = readSettings(options, { forService: true })
  const app = await createApp({ config, log })
  await serve(app, log, async () => {
    const { url, wsUrl } = await app.listen()
    log.info({ url, wsUrl, environment: config.environment }, 'Latchkey is listening')
  })
}
