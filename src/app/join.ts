/** Creates the features in dependency order, and joins what they add. */
import type { FastifyInstance } from 'fastify'
import type { CoreConfig } from '../config/config.ts'
import { errorMessage } from '../core/error-message.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { createPolicies, type Policy } from '../platform/access/policies.ts'
import type { ChangeTopic } from '../platform/changes/change.ts'
import { createDeadLetterStore } from '../platform/changes/dead-letters.store.ts'
import {
  collectDurableListeners,
  type DurableListeners,
  startDurableListeners,
} from '../platform/changes/durable-listeners.ts'
import { type RedeliveryHandlers, startRedelivery } from '../platform/changes/redelivery.ts'
import type { EventListener } from '../platform/events/events.ts'
import type { Feature, Running, SignIn, TerminalLink } from '../platform/feature.ts'
import type { Element } from '../platform/graphql/schema/elements.ts'
import { markRoutes, namedPlugin } from '../platform/http/named-plugin.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { type Job, readSchedule, type ScheduledJob, startJobsOfFeatures } from '../platform/jobs/jobs.ts'
import { mailListener } from '../platform/mail/mail-queue.ts'
import type { ConsolePages } from '../platform/pages/console-pages.ts'
import { Claims } from './clashes.ts'

export type Services = ReadonlyMap<Feature, unknown>

/** Creates these features and everything they need, and what they use of the enabled ones, each once. */
export async function createServices(
  features: readonly Feature[],
  infrastructure: Infrastructure,
  enabled = features,
): Promise<Services> {
  const services = new Map<Feature, unknown>()
  const underWay = new Set<Feature>()

  async function create(feature: Feature): Promise<unknown> {
    if (services.has(feature)) return services.get(feature)
    if (underWay.has(feature)) throw circularNeeds([...underWay, feature])
    underWay.add(feature)
    const { definition } = feature
    const needs: Record<string, unknown> = {}
    for (const [name, needed] of Object.entries({ ...definition.uses, ...definition.needs } as Record<
      string,
      Feature
    >)) {
      if (definition.needs?.[name] || enabled.includes(needed)) needs[name] = await create(needed)
    }
    const service = await withFeatureName(feature, async () => definition.create(infrastructure, needs))
    services.set(feature, service)
    underWay.delete(feature)
    return service
  }

  for (const feature of features) await create(feature)
  return services
}

function circularNeeds(features: readonly Feature[]): FatalError {
  const names = features.map(({ name }) => name)
  return new FatalError(`features need each other in a circle: ${names.join(' → ')}`, exitCodes.configuration)
}

export interface Joined {
  policies: ReturnType<typeof createPolicies>
  elements: readonly Element[]
  liveElements: readonly Element[]
  pages: readonly ConsolePages[]
  signIn: SignIn
  addRoutes(app: FastifyInstance): Promise<void>
  onForbidden: ReturnType<NonNullable<Feature['definition']['onForbidden']>>
  /** Registers event listeners, and starts background work if this thread does it. */
  start(thread: { doesBackgroundWork: boolean }): Promise<void>
  /** Never rejects. */
  onListening(address: string): Promise<readonly TerminalLink[]>
}

export async function joinFeatures(
  features: readonly Feature[],
  services: Services,
  infrastructure: Infrastructure,
): Promise<Joined> {
  const { config, log, changes, onClose } = infrastructure
  function collect<T>(add: (definition: Feature['definition'], service: unknown) => T | undefined): T[] {
    return features.flatMap((feature) => {
      const added = add(feature.definition, services.get(feature))
      return added === undefined ? [] : [added]
    })
  }
  const added = await Promise.all(features.map((feature) => additionsOf(feature, services.get(feature), config)))
  requireUniqueAdditions(added)
  const pages = added.flatMap(({ pages }) => pages ?? [])
  for (const topic of collect((definition, service): ChangeTopic | undefined => definition.changes?.(service))) {
    changes.topics.add(topic)
  }
  const forbidden = collect((definition, service) => definition.onForbidden?.(service))
  return {
    policies: createPolicies(
      Object.assign({}, ...collect(({ policies }): Readonly<Record<string, Policy<never>>> | undefined => policies)),
    ),
    elements: added.flatMap(({ elements }) => elements),
    liveElements: pages.flatMap(({ liveElements = [] }) => liveElements),
    pages,
    signIn: requireOneSignIn(collect((definition, service) => definition.signIn?.(service))),
    async addRoutes(app) {
      for (const feature of features) {
        await withFeatureName(feature, async () => {
          const addRoutes = feature.definition.routes?.(services.get(feature), config)
          if (addRoutes) await app.register(addMarked(feature.name, addRoutes))
        })
      }
    },
    async onForbidden(request) {
      for (const record of forbidden) await record(request)
    },
    async start({ doesBackgroundWork }) {
      const durable = addListeners(features, services, infrastructure)
      const scheduled = features.flatMap((feature) => jobsOf(feature, services.get(feature), infrastructure))
      if (!doesBackgroundWork) return
      for (const feature of features) {
        await withFeatureName(feature, async () => {
          const running: Running | undefined = await feature.definition.start?.(services.get(feature), infrastructure)
          if (running) onClose(() => running.close())
        })
      }
      const running = startDurableListeners(infrastructure, durable)
      const again = startRedeliveries(infrastructure, running.redelivery)
      const jobs = startJobsOfFeatures(infrastructure, scheduled)
      // Each waits for what its listeners or jobs are doing.
      onClose(() => Promise.all([running.close(), again.close(), jobs.close()]))
    },
    async onListening(address) {
      const links = await Promise.all(features.map((feature) => linksOf(feature, address)))
      return links.flat()
    },
  }

  async function linksOf(feature: Feature, address: string): Promise<readonly TerminalLink[]> {
    try {
      return (await feature.definition.onListening?.(services.get(feature), address)) ?? []
    } catch (error) {
      log.warn({ err: error, feature: feature.name }, 'a feature failed after the start')
      return []
    }
  }
}

/** Sends queued mail, and retries dead letters: of mail, and of durable listeners. */
function startRedeliveries({ db, clock, log, mail, onClose }: Infrastructure, redelivery: RedeliveryHandlers): Running {
  const handlers = new Map(redelivery)
  if (mail) {
    const sending = mail.startBackground()
    onClose(() => sending.close())
    handlers.set(mailListener, mail.redeliver)
  }
  return startRedelivery({ store: createDeadLetterStore(db), clock, log, handlers })
}

/** Registers the listeners of this process, and returns those that are fed by the change log. */
function addListeners(
  features: readonly Feature[],
  services: Services,
  { events, changes }: Infrastructure,
): DurableListeners {
  const listeners = features.flatMap((feature) => {
    const declared: readonly EventListener[] = feature.definition.listeners?.(services.get(feature)) ?? []
    return declared.map((listener) => ({ feature: feature.name, listener }))
  })
  for (const { listener: each } of listeners) {
    if (each.durable === undefined) events.on(each.event, each.listener as (payload: unknown) => unknown)
  }
  return collectDurableListeners(listeners, changes.topics.types())
}

function jobsOf(
  { name: feature, definition }: Feature,
  service: unknown,
  infrastructure: Infrastructure,
): ScheduledJob[] {
  return Object.entries((definition.jobs ?? {}) as Readonly<Record<string, Job>>).map(([name, job]) => ({
    name,
    schedule: readSchedule(feature, name, job),
    run: (signal) => job.run({ service, infrastructure, signal }),
  }))
}

interface Additions {
  feature: string
  elements: readonly Element[]
  pages: ConsolePages | undefined
}

async function additionsOf({ name, definition }: Feature, service: unknown, config: CoreConfig): Promise<Additions> {
  const [elements, pages] = await Promise.all([
    definition.elements?.(service, config) ?? [],
    definition.pages?.(service, config),
  ])
  return { feature: name, elements, pages: pages && withMarkedRoutes(name, pages) }
}

function withMarkedRoutes(feature: string, pages: ConsolePages): ConsolePages {
  const { routes } = pages
  return routes ? { ...pages, routes: (kit) => addMarked(feature, routes(kit)) } : pages
}

type AddRoutes = (app: FastifyInstance) => void | Promise<void>

function addMarked(feature: string, addRoutes: AddRoutes): (app: FastifyInstance) => Promise<void> {
  return namedPlugin(feature, async (app) => {
    markRoutes(app, feature)
    await addRoutes(app)
  })
}

/** Routes, including those of pages, are checked when they are added. */
function requireUniqueAdditions(added: readonly Additions[]): void {
  const claims = new Claims()
  for (const { feature, elements, pages = {} } of added) {
    const claim = (kind: string, names: readonly string[]) => {
      for (const name of names) claims.add(feature, `${kind} ${name}`)
    }
    claim('GraphQL', elements.map(nameOf))
    claim('console GraphQL', (pages.liveElements ?? []).map(nameOf))
    claim('notice', Object.keys(pages.notices ?? {}))
    claim(
      'navigation entry',
      (pages.navigation ?? []).map(({ path }) => path),
    )
  }
}

/** Types share one name space; the fields of each root type share another. */
function nameOf({ kind, name }: Element): string {
  return kind === 'object' || kind === 'input' ? `type ${name}` : `${kind} ${name}`
}

/** Puts the feature's name in front of the message of an error. */
async function withFeatureName<T>(feature: Feature, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FatalError) throw error
    throw new Error(`feature ${feature.name}: ${errorMessage(error)}`, { cause: error })
  }
}

function requireOneSignIn(offered: readonly SignIn[]): SignIn {
  const [signIn, ...others] = offered
  if (!signIn || others.length > 0) throw new Error('exactly one feature must offer signIn')
  return signIn
}
