/**
 * The contract between the service and its features, our own and those of extensions. A feature is a plain value: what
 * it needs, what it keeps, how it is made, and what it adds. app/ makes them in order and joins what they add.
 *
 * The command line reads every definition before it knows which command is called: ours import what they add when it is
 * asked for, so that `--help` waits for no web server.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CheckContext, CoreConfig } from '../config/config.ts'
import type { KeyTree, ValuesOf } from '../config/key.ts'
import type { Policy } from './access/policies.ts'
import type { KeyRules } from './access/program-keys.ts'
import type { Authenticate, Principal } from './access/route-guards.ts'
import type { FeatureCommand } from './command-line/command.ts'
import type { Expiring } from './database/cleanup.ts'
import type { EventListener, EventType } from './events/events.ts'
import type { Element } from './graphql/schema/elements.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ConsolePages } from './pages/console-pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: a feature of any service; `unknown` would refuse those with a type of their own
export type Needs = Readonly<Record<string, Feature<any>>>

export type ServicesOf<All extends Needs> = {
  readonly [Name in keyof All]: All[Name] extends Feature<infer Service, unknown> ? Service : never
}

export type ServiceOf<One> = One extends Feature<infer Service, unknown> ? Service : never

/** Who is behind a token, or behind the cookie of a browser. One feature offers it. */
export interface SignIn {
  authenticate: Authenticate
  /** Also renews the session's life. */
  findBrowserSession(id: string): Promise<Principal | undefined>
  /** Without renewing it, as for a socket that stays open. */
  lookAtBrowserSession: Authenticate
  /** How long a browser may keep the cookie of a session. */
  maxSessionSeconds: number
  /** Tells keys of programs from other tokens, and where they may be used. */
  keys?: KeyRules
}

export interface FeatureDefinition<Service, Uses extends Needs, Keys extends KeyTree> {
  /** Lower-case words with hyphens between them. */
  name: string
  /** By value: they are made first, and `create` gets their services under these names. */
  needs?: Uses
  /** A folder with the folders sqlite/ and postgres/, each with NNNN-name.sql, the same names in both. */
  migrations?: string
  /** Tables whose number of rows is asked for: it is maintained, not counted. They have an integer `id`. */
  countedLists?: readonly string[]
  /** Tables whose rows end by themselves. */
  expiringTables?: readonly Expiring[]
  /** What it writes to the audit trail: the code of each event, and how the console words it. */
  auditEvents?: Readonly<Record<string, string>>
  /** Configuration keys, as a tree. `create` finds their values under the same names. */
  config?: Keys
  /** What no single key can know. Each line is a problem that stops the start. */
  checkConfig?(config: CoreConfig & ValuesOf<Keys>, context: CheckContext): string[]
  create(
    infrastructure: Infrastructure<CoreConfig & ValuesOf<Keys>>,
    needs: ServicesOf<Uses>,
  ): Service | Promise<Service>
  /** Work in the background, for as long as the service runs. Not called by commands. */
  start?(service: Service, infrastructure: Infrastructure<CoreConfig & ValuesOf<Keys>>): Running | Promise<Running>

  /** By name. Routes and elements require `{ policy: name, action, entity }`. */
  policies?: Readonly<Record<string, Policy<never>>>
  /** Adds the routes to a plugin of its own. Every route declares its access. */
  routes?(service: Service, config: CoreConfig & ValuesOf<Keys>): (app: FastifyInstance) => void | Promise<void>
  elements?(service: Service, config: CoreConfig & ValuesOf<Keys>): readonly Element[] | Promise<readonly Element[]>
  /** The events that it emits. */
  events?: readonly EventType[]
  listeners?(service: Service): readonly EventListener[]
  pages?(service: Service, config: CoreConfig & ValuesOf<Keys>): ConsolePages | Promise<ConsolePages>
  commands?: readonly FeatureCommand<Service>[]
  signIn?(service: Service): SignIn
  /** Is told of a request before it is refused with 403. */
  onForbidden?(service: Service): (request: FastifyRequest) => Promise<void>
}

export interface Running {
  close(): Promise<void>
}

/** A feature as others see it: by its name, and by what its service is. */
export interface Feature<out Service = unknown, out Keys = unknown> {
  readonly name: string
  readonly definition: AnyDefinition
  /** Never there: they carry the types. */
  readonly service?: Service
  readonly keys?: Keys
}

// biome-ignore lint/suspicious/noExplicitAny: what is joined is of any type; each definition was checked where it was written
export type AnyDefinition = FeatureDefinition<any, any, any>

const namePattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

const made = new WeakSet<object>()

export function defineFeature<
  Service,
  const Uses extends Needs = Record<never, never>,
  const Keys extends KeyTree = Record<never, never>,
>(definition: FeatureDefinition<Service, Uses, Keys>): Feature<Service, Keys> {
  if (!namePattern.test(definition.name)) {
    throw new Error(`"${definition.name}" is no name for a feature: use lower-case words with hyphens between them`)
  }
  const feature = { name: definition.name, definition }
  made.add(feature)
  return feature
}

export function isFeature(value: unknown): value is Feature {
  return typeof value === 'object' && value !== null && made.has(value)
}
