/** A listening service with its own database and a controllable clock. It closes when the test ends. */
import type { TestContext } from 'node:test'
import type { OnCreated } from '../../src/app/create-app.ts'
import type { Policy } from '../../src/platform/access/policies.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { defineFeature, type Feature } from '../../src/platform/feature.ts'
import type { Element } from '../../src/platform/graphql/schema/elements.ts'
import type { Infrastructure } from '../../src/platform/infrastructure.ts'
import { startService, type TestService } from '../../src/testing/start-service.ts'
import { createDatabaseUrl } from './databases.ts'

export interface ApiOptions {
  engine?: Dialect
  /** Another folder of configuration. */
  config?: string
  /** Environment variables on top of the tests' own. */
  env?: Record<string, string>
  /** Called with the parts of the service before it listens. */
  extend?: OnCreated
  /** Additional elements and policies. */
  elements?: readonly Element[] | Elements
  policies?: Readonly<Record<string, Policy<never>>>
  extensions?: readonly Feature[]
  threads?: number
}

export type Elements = (infrastructure: Infrastructure) => readonly Element[]

export type Api = TestService

export async function startApi(t: TestContext, options: ApiOptions = {}): Promise<Api> {
  const { engine = 'sqlite', env = {}, extensions = [] } = options
  const api = await startService({
    extensions: [...additionsOf(options), ...extensions],
    databaseUrl: env.DATABASE_URL ?? (await createDatabaseUrl(t, engine, { isMigrated: true })),
    environment: env,
    ...(options.config !== undefined && { config: options.config }),
    ...(options.extend && { onCreated: options.extend }),
    ...(options.threads !== undefined && { threads: options.threads }),
  })
  t.after(() => api.close())
  return api
}

/** What a test adds, as a feature. */
function additionsOf({ elements = [], policies = {} }: ApiOptions): Feature[] {
  if (Array.isArray(elements) && elements.length === 0 && Object.keys(policies).length === 0) return []
  return [
    defineFeature({
      name: 'added-by-the-test',
      policies,
      create: (infrastructure) => (typeof elements === 'function' ? elements(infrastructure) : elements),
      elements: (made) => made,
    }),
  ]
}
