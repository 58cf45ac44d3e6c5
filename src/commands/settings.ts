/** Reads what every command needs: extensions, configuration and a log. */
import { type Config, loadConfig } from '../app/load-config.ts'
import type { ConfigSources } from '../config/config.ts'
import { FatalError } from '../core/fatal-error.ts'
import type { Feature } from '../platform/feature.ts'
import { createLogger, type Log } from '../platform/log/logger.ts'

export interface GlobalOptions {
  config: string
  debug?: boolean
}

export interface Settings {
  config: Config
  log: Log
  /** From which `config` was read. */
  sources: ConfigSources
  extensions: readonly Feature[]
}

export function readSettings(
  given: Omit<ConfigSources, 'forService'>,
  { forService, extensions }: { forService: boolean; extensions: readonly Feature[] },
): Settings {
  const sources = { ...given, forService }
  const config = loadConfig(sources, extensions)
  // Standard output of a command is its result, so its log goes to standard error.
  const log = forService
    ? createLogger({ level: config.log.level, isTerminal: process.stdout.isTTY })
    : createLogger({ level: 'warn', isTerminal: false, destination: process.stderr })
  return { config, log, sources, extensions }
}

/** Why `start` would refuse the configuration. */
export function findStartProblems({ sources, extensions }: Settings): readonly string[] {
  try {
    loadConfig({ ...sources, forService: true }, extensions)
    return []
  } catch (error) {
    if (error instanceof FatalError) return error.lines
    throw error
  }
}
