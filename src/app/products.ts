/** Products: how they are stored, found and told of. */
import { createDescriptionStore } from '../features/products/descriptions.store.ts'
import { createPostgresNameIndex } from '../features/products/name-index.postgres.ts'
import { createSqliteNameIndex } from '../features/products/name-index.sqlite.ts'
import { createProductSearch } from '../features/products/products.search.ts'
import { createProducts } from '../features/products/products.service.ts'
import { briefColumns, columns, createProductStore } from '../features/products/products.store.ts'
import { createKeptCounts } from '../platform/database/kept-counts.ts'
import type { AppEvents } from './events.ts'
import type { Ground } from './ground.ts'

export function createProductParts({ config, clock, db }: Ground, events: AppEvents) {
  const counts = createKeptCounts(db)
  const store = createProductStore({ db, clock, counts })
  const createIndex = db.dialect === 'sqlite' ? createSqliteNameIndex : createPostgresNameIndex
  const createSearch = (selected: string) =>
    createProductSearch({ db, counts, index: createIndex(db, selected), columns: selected })
  const products = createProducts({
    store,
    search: createSearch(columns),
    briefSearch: createSearch(briefColumns),
    descriptions: createDescriptionStore(db),
    clock,
    collectionLimit: config.products.collectionLimit,
    onCreated: (product) => events.emit('ProductCreated', product),
  })
  return { products }
}
