/** The configuration with the keys of all features. */
import { type ConfigSources, type CoreConfig, loadConfig as load } from '../config/config.ts'
import type { ValuesOf } from '../config/key.ts'
import type { Feature } from '../platform/feature.ts'
import { configParts } from './declarations.ts'
import { type ownFeatures, withOwnFeatures } from './features.ts'

type KeysOf<One> = One extends Feature<unknown, infer Keys> ? Keys : never
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type ValuesOfEach<One> = One extends unknown ? ValuesOf<KeysOf<One>> : never

/** The keys of the core and of all own features. */
export type Config = CoreConfig & Intersection<ValuesOfEach<(typeof ownFeatures)[number]>>

export function loadConfig(sources: ConfigSources, extensions: readonly Feature[] = []): Config {
  return load(sources, configParts(withOwnFeatures(extensions))) as Config
}
