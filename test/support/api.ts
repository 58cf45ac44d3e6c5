/** A listening service with its own database and a controllable clock. It closes when the test ends. */
import { after, type TestContext } from 'node:test'
import type { OnCreated } from '../../src/app/create-app.ts'
import type { Policy } from '../../src/platform/access/policies.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { defineFeature, type Feature } from '../../src/platform/feature.ts'
import type { Element } from '../../src/platform/graphql/schema/elements.ts'
import type { Infrastructure } from '../../src/platform/infrastructure.ts'
import { startPeriod } from '../../src/testing/clock.ts'
import { startService, type TestService } from '../../src/testing/start-service.ts'
import { createDatabaseUrl, forEngines } from './databases.ts'
import { noteExchange, noteService } from './failure-notes.ts'

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

/** What closes with the test, or with the suite. */
export type Owner = Pick<TestContext, 'after'>

export async function startApi(t: Owner, options: ApiOptions = {}): Promise<Api> {
  const { engine = 'sqlite', env = {}, extensions = [] } = options
  const api = await startService({
    extensions: [...additionsOf(options), ...extensions],
    databaseUrl: env.DATABASE_URL ?? (await createDatabaseUrl(t, engine, { isMigrated: true })),
    environment: env,
    onExchange: noteExchange,
    ...(options.config !== undefined && { config: options.config }),
    ...(options.extend && { onCreated: options.extend }),
    ...(options.threads !== undefined && { threads: options.threads }),
  })
  t.after(() => api.close())
  noteService(api)
  return api
}

/** One service for the tests of a suite or a file that bring their own users and do not mind what else is there. */
export function shareApi(options: ApiOptions = {}): () => Promise<Api> {
  return shareService(startApi, options)
}

/** The same for services with more parts, such as those of `startApiWithRoles`. */
export function shareService<T extends Api>(
  start: (owner: Owner, options: ApiOptions) => Promise<T>,
  options: ApiOptions = {},
): () => Promise<T> {
  const shared = share((owner) => start(owner, { ...options, env: { ...unlimitedRates, ...options.env } }))
  return async () => {
    const api = await shared()
    startPeriod(api.clock)
    return api
  }
}

/** A start takes longer than most tests. This one begins with the first test that asks, and closes with the suite. */
export function share<T>(start: (owner: Owner) => Promise<T>): () => Promise<T> {
  return shareAmongSuites(start)()
}

/** The same for suites that each call this for the engine of theirs: a service closes with the last suite on its engine. */
export function shareOnEngines<T>(
  start: (owner: Owner, engine: Dialect) => Promise<T>,
): (engine: Dialect) => () => Promise<T> {
  const services = forEngines((engine) => shareAmongSuites((owner) => start(owner, engine)))
  return (engine) => services[engine]()
}

function shareAmongSuites<T>(start: (owner: Owner) => Promise<T>): () => () => Promise<T> {
  const closers: Parameters<Owner['after']>[0][] = []
  let suites = 0
  let started: Promise<T> | undefined
  return () => {
    suites += 1
    after(async () => {
      suites -= 1
      if (suites === 0) for (const close of closers.reverse()) await (close as () => unknown)()
    })
    return () => {
      started ??= start({ after: (close) => void closers.push(close) })
      return started
    }
  }
}

/** All tests have one address. */
export const unlimitedRates = Object.fromEntries(
  ['LOGIN', 'REGISTER', 'REFRESH', 'VERIFY', 'RESET', 'KEYS'].map((name) => [`RATE_LIMIT_${name}`, '1000000/60']),
)

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
