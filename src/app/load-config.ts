/** The configuration with the keys of all features. */
import { type ConfigSources, type CoreConfig, loadConfig as load } from '../config/config.ts'
import type { ValuesOf } from '../config/key.ts'
import type { Feature } from '../platform/feature.ts'
import { configParts, requireNoClashes } from './declarations.ts'
import { type ownFeatures, withOwnFeatures } from './features.ts'

type KeysOf<One> = One extends Feature<unknown, infer Keys> ? Keys : never
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type ValuesOfEach<One> = One extends unknown ? ValuesOf<KeysOf<One>> : never

/** What the service and all of its own features read. */
export type Config = CoreConfig & Intersection<ValuesOfEach<(typeof ownFeatures)[number]>>

export function loadConfig(sources: ConfigSources, extensions: readonly Feature[] = []): Config {
  const features = withOwnFeatures(extensions)
  requireNoClashes(features)
  return load(sources, configParts(features)) as Config
}
