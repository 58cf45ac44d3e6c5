/** A collection in a running service: what its surfaces use, and what other features get of it. */
import type { Running } from '../platform/feature.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { cursorMetaOf } from '../platform/listing/list-responses.ts'
import { type Actor, actorOf, system } from './actor.ts'
import { collectionTopic } from './changes/topic.ts'
import { createChangeView } from './changes/view.ts'
import { logReset, resetChangedView } from './changes/view-changes.ts'
import type { ActingOptions, ApiQuery } from './declare/collection.ts'
import type { Described } from './declare/describe.ts'
import { registryOf } from './registry.ts'
import { startBackfill } from './schema/backfill.ts'
import { createCollectionService, type Hooks } from './service.ts'
import { createImportProgress } from './store/import-progress.ts'
import { createIncludes } from './store/includes.ts'
import type { GivenFilter } from './store/lists.ts'
import { importTable } from './transfer/created-rows.ts'
import { uploadsOf } from './transfer/uploads.ts'

export type Opened = ReturnType<typeof openCollection>

export function openCollection(
  collection: Described,
  { hooks, services, infrastructure }: { hooks: Hooks; services: unknown; infrastructure: Infrastructure },
) {
  const { db, changes, limitPerAddress, config } = infrastructure
  const registry = registryOf(infrastructure)
  const service = createCollectionService({ collection, hooks, services, infrastructure, registry })
  registry.set(collection, service)
  const includes = createIncludes({ db, registry })
  const perAddress = limitPerAddress(`change-readers-${collection.name}`, config.graphql.maxSocketsPerAddress)
  const view = createChangeView({ service, db, changes })
  const as = ({ as }: ActingOptions = {}): Actor => (as === undefined ? system : actorOf(as))
  return {
    collection,
    db,
    services,
    internals: {
      service,
      includes,
      db,
      uploads: uploadsOf(infrastructure),
      imports: createImportProgress(importTable, infrastructure),
      random: infrastructure.random,
      view,
      topic: collectionTopic(service, view.isSameForAll),
      changes,
      perAddress,
      registry,
      /** What readers see is the same again, and rows have what is calculated of them. */
      async start(): Promise<Running> {
        await resetChangedView(collection, infrastructure)
        const atEnd = () => logReset(collection, infrastructure.clock.nowIso())
        return startBackfill(collection, { ...infrastructure, atEnd })
      },
    },
    get: async (id: number, options?: ActingOptions) => (await service.get(id, as(options))).row,
    async list({ filter = {}, perPage, ...query }: ApiQuery = {}, options?: ActingOptions) {
      const per_page = perPage === undefined ? undefined : String(perPage)
      const page = await service.list({ ...query, per_page, filters: toFilters(filter) }, as(options))
      const { total, next, prev } = cursorMetaOf(page, page)
      return { rows: page.rows.map(({ row }) => row), total, next, prev }
    },
    create: async (values: object, options?: ActingOptions & { idempotencyKey?: string }) =>
      (await service.create(values, as(options), options?.idempotencyKey)).row,
    update: async (id: number, changes: object, options?: ActingOptions) =>
      (await service.update(id, changes, as(options))).row,
    delete: (id: number, options?: ActingOptions) => service.delete(id, as(options)),
    restore: async (id: number, options?: ActingOptions) => (await service.restore(id, as(options))).row,
  }
}

/** A value, one of several, null, or bounds. */
function toFilters(filter: NonNullable<ApiQuery['filter']>): GivenFilter[] {
  const textOf = (value: unknown) => (value === null ? null : String(value))
  return Object.entries(filter).flatMap(([field, given]): GivenFilter[] => {
    if (given === undefined) return []
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return [{ label: `filter.${field}`, field, values: [given].flat().map(textOf) }]
    }
    return Object.entries(given).map(([operator, value]) => ({
      label: `filter.${field}.${operator}`,
      field,
      operator,
      values: [textOf(value)],
    }))
  })
}
