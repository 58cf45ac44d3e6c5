/** What is read before the arguments are: features add commands. Apart from the other settings, because --help needs no log. */
import { loadExtensions } from '../app/load-extensions.ts'
import { parseFiles, readOne } from '../config/config.ts'
import { coreKeys } from '../config/core-keys.ts'

/** What the configuration in this folder, or the environment, says of features. Checked when the configuration is read. */
export async function readFeatureSettings(directory: string) {
  const given = { directory, environment: process.env }
  const sources = { ...given, files: parseFiles(given) }
  return {
    sources,
    extensions: await loadExtensions(readOne(sources, coreKeys.extensions), directory),
    disabled: readOne(sources, coreKeys.features.disabled),
  }
}
