/** Products: how they are stored, found and told of. */
import { createDescriptionStore } from '../features/products/descriptions.store.ts'
import { createPostgresNameIndex } from '../features/products/name-index.postgres.ts'
import { createSqliteNameIndex } from '../features/products/name-index.sqlite.ts'
import { createChangeFeed } from '../features/products/product-changes.ts'
import { createProductLists } from '../features/products/products.lists.ts'
import { createProductSearch } from '../features/products/products.search.ts'
import { createProducts } from '../features/products/products.service.ts'
import { briefColumns, createProductStore, keyColumns, listedColumns } from '../features/products/products.store.ts'
import type { Bus } from '../platform/bus/bus.ts'
import { createMaintainedCounts } from '../platform/database/maintained-counts.ts'
import type { AppEvents } from './events.ts'
import type { Infrastructure } from './infrastructure.ts'

export interface ProductPartsDeps {
  events: AppEvents
  /** Carries what open pages hear of changes, to every node. */
  bus: Bus
}

export function createProductParts(
  { config, clock, db, log, onClose }: Infrastructure,
  { events, bus }: ProductPartsDeps,
) {
  const counts = createMaintainedCounts(db)
  const store = createProductStore({ db, clock, counts })
  const createIndex = db.dialect === 'sqlite' ? createSqliteNameIndex : createPostgresNameIndex
  const createSearch = (selected: string) =>
    createProductSearch({ db, counts, index: createIndex(db, selected), columns: selected })
  const feed = createChangeFeed({ bus, log })
  onClose(() => feed.close())
  const products = createProducts({
    store,
    briefSearch: createSearch(briefColumns),
    descriptions: createDescriptionStore(db),
    clock,
    collectionLimit: config.products.collectionLimit,
    onCreated: (product) => events.emit('ProductCreated', product),
    onChanged: feed.announce,
  })
  const lists = createProductLists({
    store,
    search: createSearch(listedColumns),
    keySearch: createSearch(keyColumns),
    collectionLimit: config.products.collectionLimit,
  })
  return { products, lists }
}
