/** What every command begins with: its configuration and its log. */
import { type Config, loadConfig } from '../config/config.ts'
import { createLogger, type Log } from '../platform/log/logger.ts'

export interface GlobalOptions {
  config: string
  debug?: boolean
}

export function readSettings(
  options: GlobalOptions,
  { forService }: { forService: boolean },
): { config: Config; log: Log } {
  const config = loadConfig({ directory: options.config, environment: process.env, forService })
  // What a command prints is for whoever reads its output; warnings go beside it.
  const log = forService
    ? createLogger({ level: config.log.level, isTerminal: process.stdout.isTTY })
    : createLogger({ level: 'warn', isTerminal: false, destination: process.stderr })
  return { config, log }
}
