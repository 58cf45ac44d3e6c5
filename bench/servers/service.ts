/** The service as it is, configured by the environment. */
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { root } from '../../src/config/root.ts'
import { createLogger } from '../../src/platform/log/logger.ts'

const config = loadConfig({ directory: `${root}/config`, environment: process.env, forService: true })
const app = await createApp({ config, log: createLogger({ level: config.log.level, isTerminal: false }) })
const { url } = await app.listen()
process.stdout.write(`${url}\n`)
process.once('SIGTERM', () => process.exit(0))
