import { createApp } from '../app/create-app.ts'
import { keepHeapSteady } from '../platform/process/steady-heap.ts'
import { lockServedFile } from './served-file.ts'
import { serve } from './serving.ts'
import type { Settings } from './settings.ts'
import { describePlaces } from './terminal-places.ts'

/** Serves until a signal asks it to stop. */
export async function start({ config, log, extensions }: Settings): Promise<void> {
  lockServedFile(config)
  keepHeapSteady()
  const app = await createApp({ config, log, extensions })
  await serve(app, log, async () => {
    const { url, wsUrl, address, links } = await app.listen()
    log.info({ url, wsUrl, environment: config.environment }, 'Latchkey is listening')
    if (process.stdout.isTTY) process.stdout.write(describePlaces({ address, config, links: await links }))
  })
}
