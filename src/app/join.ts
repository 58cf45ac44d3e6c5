/** Creates the features in dependency order, and joins what they add. */
import type { FastifyInstance } from 'fastify'
import { errorMessage } from '../core/error-message.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { createPolicies, type Policy } from '../platform/access/policies.ts'
import type { EventListener } from '../platform/events/events.ts'
import type { Feature, Running, SignIn } from '../platform/feature.ts'
import type { Element } from '../platform/graphql/schema/elements.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import type { ConsolePages } from '../platform/pages/console-pages.ts'

export type Services = ReadonlyMap<Feature, unknown>

/** Creates these features and everything they need, each once. */
export async function createServices(features: readonly Feature[], infrastructure: Infrastructure): Promise<Services> {
  const services = new Map<Feature, unknown>()
  const underWay = new Set<Feature>()

  async function create(feature: Feature): Promise<unknown> {
    if (services.has(feature)) return services.get(feature)
    if (underWay.has(feature)) throw circularNeeds([...underWay, feature])
    underWay.add(feature)
    const { definition } = feature
    const needs: Record<string, unknown> = {}
    for (const [name, needed] of Object.entries((definition.needs ?? {}) as Record<string, Feature>)) {
      needs[name] = await create(needed)
    }
    const service = await definition.create(infrastructure, needs)
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
  /** Registers event listeners and starts background work. */
  start(): Promise<void>
}

export async function joinFeatures(
  features: readonly Feature[],
  services: Services,
  infrastructure: Infrastructure,
): Promise<Joined> {
  const { config, events, onClose } = infrastructure
  function collect<T>(add: (definition: Feature['definition'], service: unknown) => T | undefined): T[] {
    return features.flatMap((feature) => {
      const added = add(feature.definition, services.get(feature))
      return added === undefined ? [] : [added]
    })
  }
  const pages: ConsolePages[] = await Promise.all(collect((definition, service) => definition.pages?.(service, config)))
  const elements: (readonly Element[])[] = await Promise.all(
    collect((definition, service) => definition.elements?.(service, config)),
  )
  const forbidden = collect((definition, service) => definition.onForbidden?.(service))
  return {
    policies: createPolicies(
      Object.assign({}, ...collect(({ policies }): Readonly<Record<string, Policy<never>>> | undefined => policies)),
    ),
    elements: elements.flat(),
    liveElements: pages.flatMap(({ liveElements = [] }) => liveElements),
    pages,
    signIn: requireOneSignIn(collect((definition, service) => definition.signIn?.(service))),
    async addRoutes(app) {
      for (const feature of features) {
        const addRoutes = feature.definition.routes?.(services.get(feature), config)
        if (addRoutes)
          await withFeatureName(feature, async () => void (await app.register(async (own) => addRoutes(own))))
      }
    },
    async onForbidden(request) {
      for (const record of forbidden) await record(request)
    },
    async start() {
      const listeners = collect((definition, service) => definition.listeners?.(service)).flat()
      for (const each of listeners) listen(each)
      for (const feature of features) {
        const running: Running | undefined = await feature.definition.start?.(services.get(feature), infrastructure)
        if (running) onClose(() => running.close())
      }
    },
  }

  function listen({ event, durable, listener }: EventListener): void {
    if (durable !== undefined) {
      throw new FatalError(
        `the durable listener "${durable}": durable listeners need the change log, which is not there yet`,
        exitCodes.configuration,
      )
    }
    events.on(event, listener as (payload: unknown) => unknown)
  }
}

/** Puts the feature's name in front of the message of an error. */
async function withFeatureName(feature: Feature, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw new Error(`feature ${feature.name}: ${errorMessage(error)}`, { cause: error })
  }
}

function requireOneSignIn(offered: readonly SignIn[]): SignIn {
  const [signIn, ...others] = offered
  if (!signIn || others.length > 0) throw new Error('exactly one feature must offer signIn')
  return signIn
}
