/** Runs a command that a feature adds. */
import { openCommandServices } from '../app/command-services.ts'
import { declaredBy } from '../app/declarations.ts'
import { withOwnFeatures } from '../app/features.ts'
import type { FeatureCommand, Given } from '../platform/command-line/command.ts'
import type { Feature } from '../platform/feature.ts'
import type { Settings } from './settings.ts'

export async function runFeatureCommand(
  { feature, command }: { feature: Feature; command: FeatureCommand },
  settings: Settings,
  given: Given,
): Promise<void> {
  async function open() {
    const { services, infrastructure } = await openCommandServices({ ...settings, only: [feature] })
    return { service: services.get(feature) as never, infrastructure, close: infrastructure.close }
  }
  const schema = declaredBy(withOwnFeatures(settings.extensions))
  await command.run({ config: settings.config, schema, open }, given as Given<never>)
}
