/** What every command begins with: its extensions, its configuration and its log. */
import { requireNoClashes } from '../app/declarations.ts'
import { withOwnFeatures } from '../app/features.ts'
import { type Config, loadConfig } from '../app/load-config.ts'
import { loadExtensions } from '../app/load-extensions.ts'
import { readOne } from '../config/config.ts'
import { coreKeys } from '../config/core-keys.ts'
import type { Feature } from '../platform/feature.ts'
import { createLogger, type Log } from '../platform/log/logger.ts'

export interface GlobalOptions {
  config: string
  debug?: boolean
}

/** The features that the configuration in this folder, or the environment, adds. */
export async function loadConfigured(directory: string): Promise<Feature[]> {
  const names = readOne({ directory, environment: process.env }, coreKeys.extensions)
  const extensions = await loadExtensions(names, directory)
  requireNoClashes(withOwnFeatures(extensions))
  return extensions
}

export interface Settings {
  config: Config
  log: Log
  extensions: readonly Feature[]
}

export function readSettings(
  options: GlobalOptions,
  { forService, extensions }: { forService: boolean; extensions: readonly Feature[] },
): Settings {
  const config = loadConfig({ directory: options.config, environment: process.env, forService }, extensions)
  // What a command prints is for whoever reads its output; warnings go beside it.
  const log = forService
    ? createLogger({ level: config.log.level, isTerminal: process.stdout.isTTY })
    : createLogger({ level: 'warn', isTerminal: false, destination: process.stderr })
  return { config, log, extensions }
}
