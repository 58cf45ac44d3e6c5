/** The configuration with the keys of all features. */
import { type CheckContext, type ConfigSources, type CoreConfig, loadConfig as load } from '../config/config.ts'
import { coreKeys } from '../config/core-keys.ts'
import type { ValuesOf } from '../config/key.ts'
import { findClosestMatch } from '../core/closest-match.ts'
import type { Feature } from '../platform/feature.ts'
import { configParts } from './declarations.ts'
import { type ownFeatures, switchableFeatures, withOwnFeatures, withoutDisabled } from './features.ts'

type KeysOf<One> = One extends Feature<unknown, infer Keys> ? Keys : never
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type ValuesOfEach<One> = One extends unknown ? ValuesOf<KeysOf<One>> : never

/** The keys of the core and of all own features. */
export type Config = CoreConfig & Intersection<ValuesOfEach<(typeof ownFeatures)[number]>>

export function loadConfig(sources: ConfigSources, extensions: readonly Feature[] = []): Config {
  const features = withOwnFeatures(extensions)
  const check = (config: CoreConfig, context: CheckContext) => findDisabledProblems(features, config, context)
  return load(sources, [{ check }, ...configParts(features)]) as Config
}

function findDisabledProblems(
  features: readonly Feature[],
  { features: { disabled } }: CoreConfig,
  { subjectOf }: CheckContext,
): string[] {
  const switchable = switchableFeatures.map(({ name }) => name)
  const unknown = disabled.filter((name) => !switchable.includes(name))
  const refused = unknown.map((name) => {
    const reason = features.some((feature) => feature.name === name) ? 'cannot be disabled' : 'is not a feature'
    const closest = findClosestMatch(name, switchable)
    return `"${name}" ${reason}; ${closest ? `did you mean "${closest}"?` : `these can be disabled: ${switchable.join(', ')}`}`
  })
  const needed = withoutDisabled(features, disabled).flatMap(({ name, definition }) =>
    Object.values((definition.needs ?? {}) as Record<string, Feature>)
      .filter((feature) => disabled.includes(feature.name) && switchableFeatures.includes(feature))
      .map((feature) => `"${feature.name}" cannot be disabled, because ${name} needs it`),
  )
  return [...refused, ...needed].map((problem) => `${subjectOf(coreKeys.features.disabled)}: ${problem}`)
}
