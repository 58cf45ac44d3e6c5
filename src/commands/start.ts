import type { App } from '../app/create-app.ts'
import { countServingThreads } from '../app/threads/count.ts'
import { warnOfLowLimit } from '../platform/process/open-files.ts'
import { compactHeapWhenIdle, keepHeapSteady } from '../platform/process/steady-heap.ts'
import { lockServedFile } from './served-file.ts'
import { endOnWriterDeath, serve } from './serving.ts'
import type { Settings } from './settings.ts'
import { describePlaces } from './terminal-places.ts'

/** Serves until a signal asks it to stop. */
export async function start(settings: Settings): Promise<void> {
  const { config, log } = settings
  lockServedFile(config)
  warnOfLowLimit(log)
  const threads = countServingThreads(config.server.threads, log)
  const app = await createWith(threads, settings)
  await serve(app, { ...config.server, isDevelopment: config.isDevelopment, log }, async () => {
    const { url, wsUrl, address, links } = await app.listen()
    keepHeapSteady()
    compactHeapWhenIdle()
    log.info({ url, wsUrl, threads, environment: config.environment }, 'Latchkey is listening')
    if (process.stdout.isTTY) process.stdout.write(describePlaces({ address, config, links: await links }))
  })
}

/** Each is imported only where it is used: with several threads, the main one never loads the web server. */
async function createWith(threads: number, settings: Settings): Promise<App> {
  const onWriterDeath = endOnWriterDeath(settings.log)
  if (threads === 1) {
    const { createApp } = await import('../app/create-app.ts')
    return createApp({ ...settings, onWriterDeath })
  }
  const { createThreadedApp } = await import('../app/threads/start-threads.ts')
  const { directory, environment } = settings.sources
  return createThreadedApp({
    ...settings,
    threads,
    directory,
    environment,
    compactsHeap: true,
    isStaged: settings.config.isDevelopment,
    onWriterDeath,
  })
}
