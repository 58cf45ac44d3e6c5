/** Reads what every command needs: extensions, configuration and a log. */
import { type Config, loadConfig } from '../app/load-config.ts'
import { loadExtensions } from '../app/load-extensions.ts'
import { type ConfigSources, readOne } from '../config/config.ts'
import { coreKeys } from '../config/core-keys.ts'
import { FatalError } from '../core/fatal-error.ts'
import type { Feature } from '../platform/feature.ts'
import { createLogger, type Log } from '../platform/log/logger.ts'

export interface GlobalOptions {
  config: string
  debug?: boolean
}

/** What the configuration in this folder, or the environment, says of features. Checked when the configuration is read. */
export async function readFeatureSettings(directory: string) {
  const sources = { directory, environment: process.env }
  return {
    extensions: await loadExtensions(readOne(sources, coreKeys.extensions), directory),
    disabled: readOne(sources, coreKeys.features.disabled),
  }
}

export interface Settings {
  config: Config
  log: Log
  /** From which `config` was read. */
  sources: ConfigSources
  extensions: readonly Feature[]
}

export function readSettings(
  options: GlobalOptions,
  { forService, extensions }: { forService: boolean; extensions: readonly Feature[] },
): Settings {
  const sources = { directory: options.config, environment: process.env, forService }
  const config = loadConfig(sources, extensions)
  // Standard output of a command is its result, so its log goes to standard error.
  const log = forService
    ? createLogger({ level: config.log.level, isTerminal: process.stdout.isTTY })
    : createLogger({ level: 'warn', isTerminal: false, destination: process.stderr })
  return { config, log, sources, extensions }
}

/** Why `start` would refuse the configuration. */
export function findStartProblems({ config }: GlobalOptions, extensions: readonly Feature[]): readonly string[] {
  try {
    loadConfig({ directory: config, environment: process.env, forService: true }, extensions)
    return []
  } catch (error) {
    if (error instanceof FatalError) return error.lines
    throw error
  }
}
