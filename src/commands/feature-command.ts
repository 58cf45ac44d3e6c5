/** Runs a command that a feature adds. */
import { withOwnFeatures } from '../app/features.ts'
import { openInfrastructure } from '../app/infrastructure.ts'
import { createServices } from '../app/join.ts'
import type { FeatureCommand, Given } from '../platform/command-line/command.ts'
import type { Feature } from '../platform/feature.ts'
import type { Settings } from './settings.ts'

export async function runFeatureCommand(
  { feature, command }: { feature: Feature; command: FeatureCommand },
  { config, log, extensions }: Settings,
  given: Given,
): Promise<void> {
  async function open() {
    const features = withOwnFeatures(extensions)
    const infrastructure = await openInfrastructure({ config, log, features, isServing: false })
    try {
      const services = await createServices([feature], infrastructure)
      return { service: services.get(feature) as never, infrastructure, close: infrastructure.close }
    } catch (error) {
      await infrastructure.close()
      throw error
    }
  }
  await command.run({ config, open }, given as Given<never>)
}
