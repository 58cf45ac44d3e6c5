/** A collection is a feature: its routes, elements, log and commands are made from one declaration. */
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getCallSites } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { defineFeature, type Feature, isFeature } from '../platform/feature.ts'
import { namedPlugin } from '../platform/http/named-plugin.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import type { ConsolePages } from '../platform/pages/console-pages.ts'
import type {
  Collection,
  CollectionKeys,
  CollectionOptions,
  Fields,
  FilterOption,
  SortOption,
} from './declare/collection.ts'
import { type CollectionDeclaration, type Described, describeCollections } from './declare/describe.ts'
import type { FieldDefinition } from './declare/fields.ts'
import type { Opened } from './open.ts'
import type { CollectionFolder } from './schema/snapshot.ts'
import type { Hooks } from './service.ts'
import { createCommands } from './transfer/commands.ts'

interface Declared {
  declaration: CollectionDeclaration
  migrations: string
}

const declared = new WeakMap<object, Declared>()
const described = new WeakMap<CollectionDeclaration, Described>()

const purgedAtOnce = 500

export function collection<
  const Name extends string,
  const All extends Fields,
  const Sort extends SortOption<All> = readonly [],
  const Filter extends FilterOption<All> = readonly [],
>(
  options: CollectionOptions<Name, All, Sort, Filter> & CollectionKeys,
): Collection<All, Name, Sort[number], Filter[number]> {
  const { name, singular, path, fields, rules, sort, filter, search, check, keepDeleted, gone, kept, title, ...rest } =
    options as unknown as CollectionDeclaration & CollectionKeys & Hooks & { migrations?: string }
  const { beforeWrite, alongside, migrations = 'migrations', ...keys } = rest
  const given = { name, singular, path, fields, rules, sort, filter, search, check, keepDeleted, gone, kept, title }
  const declaration = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as unknown as CollectionDeclaration
  const folder = callerFolder()
  const hooks: Hooks = { ...(beforeWrite && { beforeWrite }), ...(alongside && { alongside }) }

  const feature = defineFeature({
    ...(keys as object),
    name,
    create: async (infrastructure: Infrastructure, needs: object) => {
      const { openCollection } = await import('./open.ts')
      return openCollection(describedOf(feature), { hooks, infrastructure, services: needs })
    },
    routes: (service: Opened, config: never) => async (app: FastifyInstance) => {
      const { collectionRoutes } = await import('./rest/routes.ts')
      await app.register(namedPlugin(name, collectionRoutes), { prefix: service.collection.path, ...service.internals })
      const addOwn = keys.routes?.(service as never, config)
      if (addOwn) await app.register(namedPlugin(`${name}-own`, async (own: FastifyInstance) => addOwn(own)))
    },
    elements: async (service: Opened, config: never) => {
      const { createCollectionElements } = await import('./graphql/elements.ts')
      return [
        ...createCollectionElements({ ...service.internals, db: service.db }),
        ...((await keys.elements?.(service as never, config)) ?? []),
      ]
    },
    pages: async (service: Opened, config: never) => {
      const { createCollectionPages } = await import('./console/pages.ts')
      return joinPages(createCollectionPages(service.internals), await keys.pages?.(service as never, config))
    },
    changes: (service: Opened) => service.internals.topic,
    async start(service: Opened, infrastructure: Infrastructure) {
      const running = [await service.internals.start(), await keys.start?.(service as never, infrastructure as never)]
      return { close: async () => void (await Promise.all(running.map((each) => each?.close()))) }
    },
    commands: [...createCommands(name), ...(keys.commands ?? [])],
    jobs: {
      ...keys.jobs,
      [`purge-${name}`]: {
        every: '1h',
        async run({ service, signal }: { service: Opened; signal: AbortSignal }) {
          while (!signal.aborted && (await service.internals.service.purge(purgedAtOnce)) === purgedAtOnce);
        },
      },
    },
  } as never) as Feature
  declared.set(feature, { declaration, migrations: resolve(folder, migrations) })
  return feature as Collection<All, Name, Sort[number], Filter[number]>
}

/** The pages that a declaration adds are beside those of the rows. */
function joinPages(own: ConsolePages, added: ConsolePages | undefined): ConsolePages {
  if (!added) return own
  return {
    ...added,
    navigation: [...(own.navigation ?? []), ...(added.navigation ?? [])],
    actions: [...(own.actions ?? []), ...(added.actions ?? [])],
    finders: [...(own.finders ?? []), ...(added.finders ?? [])],
    notices: { ...own.notices, ...added.notices },
    routes: (kit) => async (app) => {
      await own.routes?.(kit)(app)
      await added.routes?.(kit)(app)
    },
  }
}

/** The folder of the file that declares a collection. */
function callerFolder(): string {
  const own = import.meta.filename
  const files = getCallSites(10).map(({ scriptName }) =>
    scriptName.startsWith('file:') ? fileURLToPath(scriptName) : scriptName,
  )
  const caller = files.slice(1).find((file) => file !== own && file !== files[0])
  return dirname(caller ?? own)
}

export function isCollection(feature: unknown): feature is Collection {
  return typeof feature === 'object' && feature !== null && declared.has(feature)
}

/** Resolves what a collection refers to, and describes it with the others that it leads to. */
export function describedOf(feature: Feature): Described {
  const { declaration } = declared.get(feature) as Declared
  const known = described.get(declaration)
  if (known) return known
  const reached = new Set<CollectionDeclaration>()
  reach(declaration, reached)
  const added = [...reached].filter((each) => !described.has(each))
  const made = describeCollections(added, (target) => {
    const found = unwrap(target)
    if (!isFeature(found)) return undefined
    const other = declared.get(found)?.declaration
    if (other) return described.get(other) ?? other
    return found.name === 'users' ? 'users' : undefined
  })
  for (const [i, each] of added.entries()) described.set(each, made[i] as Described)
  return described.get(declaration) as Described
}

function unwrap(target: unknown): unknown {
  return typeof target === 'function' ? target() : target
}

function reach(declaration: CollectionDeclaration, reached: Set<CollectionDeclaration>): void {
  if (reached.has(declaration)) return
  reached.add(declaration)
  for (const definition of Object.values(declaration.fields)) {
    for (const target of targetsOf(definition)) {
      const other = declared.get(unwrap(target) as object)?.declaration
      if (other) reach(other, reached)
    }
  }
}

function targetsOf({ target, item, many }: FieldDefinition): unknown[] {
  return [target ?? [], item ? targetsOf(item) : [], many ? many.of : []].flat()
}

/** Stops the start where a relation refers to a collection that is not part of the service. */
export function requireTargets(features: readonly Feature[]): void {
  const collections = features.filter(isCollection).map((feature) => describedOf(feature))
  for (const { name, fields } of collections) {
    for (const field of fields.values()) {
      const target = field.many?.of ?? field.target
      if (!target?.rules || collections.includes(target)) continue
      const reason = `the field "${field.name}" refers to ${target.name}, which is not among the features: export it too`
      throw new FatalError(`collection ${name}: ${reason}`, exitCodes.configuration)
    }
  }
}

/** The folders of migrations, with the collections that are declared next to each. */
export function collectionFolders(features: readonly Feature[]): CollectionFolder[] {
  const collections = features.filter(isCollection)
  const folders = Map.groupBy(collections, (feature) => (declared.get(feature) as Declared).migrations)
  return [...folders].map(([path, of]) => ({ path, collections: of.map((feature) => describedOf(feature)) }))
}
