/** The GraphQL schema by itself: the features are made on an empty database, which is gone afterwards. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GraphQLSchema } from 'graphql'
import type { CoreConfig } from '../config/config.ts'
import type { Feature } from '../platform/feature.ts'
import { createGuards } from '../platform/graphql/schema/guards.ts'
import { createSchema } from '../platform/graphql/schema/schema.ts'
import type { Log } from '../platform/log/logger.ts'
import { withOwnFeatures } from './features.ts'
import { openInfrastructure } from './infrastructure.ts'
import { createServices, joinFeatures } from './join.ts'

export interface BareSchemaOptions {
  config: CoreConfig
  log: Log
  extensions: readonly Feature[]
}

export async function createBareSchema({ config, log, extensions }: BareSchemaOptions): Promise<GraphQLSchema> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-schema-'))
  try {
    const database = { ...config.database, url: `file:${join(folder, 'empty.db')}` }
    const features = withOwnFeatures(extensions)
    const infrastructure = await openInfrastructure({
      config: { ...config, database },
      log,
      features,
      isServing: false,
    })
    try {
      const services = await createServices(features, infrastructure)
      const { elements, policies } = await joinFeatures(features, services, infrastructure)
      return createSchema(elements, createGuards(policies))
    } finally {
      await infrastructure.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
