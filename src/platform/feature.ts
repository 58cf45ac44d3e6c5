/**
 * The contract between the service and its features, both its own and those of extensions. A feature is a plain value that
 * declares what it needs and adds, and how to create it. app/ creates features in dependency order and joins what they add.
 *
 * The command line loads every definition, whichever command is run, so definitions should import routes, pages and
 * elements lazily.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CheckContext, CoreConfig } from '../config/config.ts'
import type { KeyTree, ValuesOf } from '../config/key.ts'
import { hyphenatedName } from '../core/text.ts'
import type { Policy } from './access/policies.ts'
import type { KeyRules } from './access/program-keys.ts'
import type { Authenticate, Principal } from './access/route-guards.ts'
import type { ChangeTopic } from './changes/change.ts'
import type { FeatureCommand } from './command-line/command.ts'
import type { Expiring } from './database/cleanup.ts'
import type { EventListener, EventType } from './events/events.ts'
import type { Element } from './graphql/schema/elements.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Job } from './jobs/jobs.ts'
import type { ConsolePages } from './pages/console-pages.ts'

// biome-ignore lint/suspicious/noExplicitAny: a feature with any service; `unknown` would reject specific service types
export type Needs = Readonly<Record<string, Feature<any>>>

export type ServicesOf<All extends Needs> = {
  readonly [Name in keyof All]: All[Name] extends Feature<infer Service, unknown> ? Service : never
}

export type ServiceOf<One> = One extends Feature<infer Service, unknown> ? Service : never

/** Authentication by token and by browser session. Exactly one feature provides it. */
export interface SignIn {
  authenticate: Authenticate
  /** Extends the session. */
  findBrowserSession(id: string): Promise<Principal | undefined>
  /** Does not extend the session; for WebSockets that stay open. */
  peekBrowserSession: Authenticate
  /** The maximum age of the session cookie. */
  maxSessionSeconds: number
  /** Tells keys of programs from other tokens, and where they may be used. */
  keys?: KeyRules
}

export interface FeatureDefinition<
  Service,
  Uses extends Needs,
  Keys extends KeyTree,
  Optional extends Needs = Record<never, never>,
> {
  /** Lower-case words, joined by hyphens. */
  name: string
  /** `create` is called even if `features.disabled` turns the feature off, for what others must know of its tables. */
  isCreatedIfDisabled?: boolean
  /** Features to create first; `create` gets their services under these names. */
  needs?: Uses
  /** Like `needs`, but `create` gets no service for those that `features.disabled` turns off. */
  uses?: Optional
  /** A folder with subfolders sqlite/ and postgres/, each with the same files NNNN-name.sql. */
  migrations?: string
  /** Tables with an integer `id` whose row counts are maintained by triggers instead of COUNT(*). */
  countedLists?: readonly string[]
  /** Tables whose expired rows are deleted in the background. */
  expiringTables?: readonly Expiring[]
  /** Codes of the audit events it writes, each with the description that the console shows. */
  auditEvents?: Readonly<Record<string, string>>
  /** Roles with their permissions, for installations whose configuration does not define roles of these names. */
  roles?: Readonly<Record<string, readonly string[]>>
  /** Configuration keys, as a tree. The configuration has their values under the same names. */
  config?: Keys
  /** Checks across keys. Each returned line is a problem that stops the start. */
  checkConfig?(config: CoreConfig & ValuesOf<Keys>, context: CheckContext): string[]
  create(
    infrastructure: Infrastructure<CoreConfig & ValuesOf<Keys>>,
    needs: ServicesOf<Uses> & Partial<ServicesOf<Optional>>,
  ): Service | Promise<Service>
  /** Starts background work. Called in one thread of the process; not in commands. */
  start?(service: Service, infrastructure: Infrastructure<CoreConfig & ValuesOf<Keys>>): Running | Promise<Running>
  /**
   * Called in one thread of the process when the HTTP server listens, with the address to open in a browser; not in commands, nor where only sockets
   * are served. Nothing waits for it, and a failure is only logged. Returns what a person at the terminal should see.
   */
  onListening?(service: Service, address: string): Promise<readonly TerminalLink[]>

  /** By name. Routes and elements require `{ policy: name, action, entity }`. */
  policies?: Readonly<Record<string, Policy<never>>>
  /** Called with a Fastify plugin of its own. Every route must declare its access. */
  routes?(service: Service, config: CoreConfig & ValuesOf<Keys>): (app: FastifyInstance) => void | Promise<void>
  elements?(service: Service, config: CoreConfig & ValuesOf<Keys>): readonly Element[] | Promise<readonly Element[]>
  /** The events it emits. */
  events?: readonly EventType[]
  /** The changes that its triggers write to the change log. */
  changes?(service: Service): ChangeTopic
  listeners?(service: Service): readonly EventListener[]
  pages?(service: Service, config: CoreConfig & ValuesOf<Keys>): ConsolePages | Promise<ConsolePages>
  commands?: readonly FeatureCommand<Service>[]
  /** Work at certain times, by name. Of several nodes, one does each job. */
  jobs?: Readonly<Record<string, Job<Service>>>
  signIn?(service: Service): SignIn
  /** Called before a request is refused with 403. */
  onForbidden?(service: Service): (request: FastifyRequest) => Promise<void>
}

export interface Running {
  close(): Promise<void>
}

/** A link that `start` prints on a terminal. */
export interface TerminalLink {
  name: string
  url: string
  note?: string
}

export interface Feature<out Service = unknown, out Keys = unknown> {
  readonly name: string
  readonly definition: AnyDefinition
  /** `service` and `keys` are never set; they carry the types. */
  readonly service?: Service
  readonly keys?: Keys
}

// biome-ignore lint/suspicious/noExplicitAny: joins definitions of any type; defineFeature has checked each of them
export type AnyDefinition = FeatureDefinition<any, any, any, any>

const made = new WeakSet<object>()

export function defineFeature<
  Service,
  const Uses extends Needs = Record<never, never>,
  const Keys extends KeyTree = Record<never, never>,
  const Optional extends Needs = Record<never, never>,
>(definition: FeatureDefinition<Service, Uses, Keys, Optional>): Feature<Service, Keys> {
  if (!hyphenatedName.test(definition.name)) {
    throw new Error(`"${definition.name}" is no name for a feature: use lower-case words with hyphens between them`)
  }
  const feature = { name: definition.name, definition }
  made.add(feature)
  return feature
}

export function isFeature(value: unknown): value is Feature {
  return typeof value === 'object' && value !== null && made.has(value)
}
