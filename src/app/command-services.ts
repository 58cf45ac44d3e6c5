/** Creates the services of features for a command, which does not serve. */
import type { CoreConfig } from '../config/config.ts'
import type { Feature } from '../platform/feature.ts'
import type { Log } from '../platform/log/logger.ts'
import { createdAmong, withOwnFeatures, withoutDisabled } from './features.ts'
import { buildOnInfrastructure, type OpenInfrastructure } from './infrastructure.ts'
import { createServices, type Services } from './join.ts'

export interface CommandServicesOptions {
  config: CoreConfig
  log: Log
  extensions: readonly Feature[]
  /** The features to create, with what they need; all by default. */
  only?: readonly Feature[]
}

export interface CommandServices {
  /** The enabled ones. */
  features: readonly Feature[]
  services: Services
  /** To be closed by the caller. */
  infrastructure: OpenInfrastructure
}

export async function openCommandServices(options: CommandServicesOptions): Promise<CommandServices> {
  const { config, log, extensions } = options
  const features = withOwnFeatures(extensions)
  return buildOnInfrastructure({ config, log, features, isServing: false }, async (infrastructure) => {
    const enabled = withoutDisabled(features, config.features.disabled)
    const services = await createServices(options.only ?? createdAmong(features, enabled), infrastructure, enabled)
    return { features: enabled, services, infrastructure }
  })
}
