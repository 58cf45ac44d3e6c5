/** Runs the service in this process, configured by the environment, and prints its URL for the parent process. */
import { createApp, type OnCreated } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/load-config.ts'
import { loadExtensions } from '../../src/app/load-extensions.ts'
import { readOne } from '../../src/config/config.ts'
import { coreKeys } from '../../src/config/core-keys.ts'
import { root } from '../../src/config/root.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { keepHeapSteady } from '../../src/platform/process/steady-heap.ts'

export async function serve(onCreated: OnCreated = () => {}): Promise<void> {
  const sources = { directory: `${root}/config`, environment: process.env }
  const extensions = await loadExtensions(readOne(sources, coreKeys.extensions), sources.directory)
  const config = loadConfig({ ...sources, forService: true }, extensions)
  const log = createLogger({ level: config.log.level, isTerminal: false })
  const app = await createApp({ config, log, extensions, onCreated })
  const { url } = await app.listen()
  keepHeapSteady()
  process.stdout.write(`${url}\n`)
  process.once('SIGTERM', () => process.exit(0))
}
