/** The GraphQL schema without a running service: the features are created on an empty temporary database. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GraphQLSchema } from 'graphql'
import { createGuards } from '../platform/graphql/schema/guards.ts'
import { createSchema } from '../platform/graphql/schema/schema.ts'
import { type CommandServicesOptions, openCommandServices } from './command-services.ts'
import { joinFeatures } from './join.ts'

export type BareSchemaOptions = Omit<CommandServicesOptions, 'only'>

export async function createBareSchema({ config, log, extensions }: BareSchemaOptions): Promise<GraphQLSchema> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-schema-'))
  try {
    const database = { ...config.database, url: `file:${join(folder, 'empty.db')}` }
    const { features, services, infrastructure } = await openCommandServices({
      config: { ...config, database },
      log,
      extensions,
    })
    try {
      const { elements, policies } = await joinFeatures(features, services, infrastructure)
      return createSchema(elements, createGuards(policies))
    } finally {
      await infrastructure.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
