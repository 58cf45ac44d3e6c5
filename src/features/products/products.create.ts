import { uploadsOf } from '../../collections/transfer/uploads.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createSortedList } from '../../platform/listing/sorted-list.store.ts'
import type { UsersService } from '../users/users.create.ts'
import { insertMany } from './bulk.store.ts'
import { createBulkChanges } from './bulk-changes.ts'
import { createDescriptionStore } from './descriptions.store.ts'
import { createPostgresNameIndex } from './name-index.postgres.store.ts'
import { createSqliteNameIndex } from './name-index.sqlite.store.ts'
import { createProductForms } from './pages/product-forms.ts'
import { createProductHistory } from './pages/product-history.ts'
import { createProductImports } from './pages/product-imports.ts'
import { productCreated, productCreatedTopic } from './product.events.ts'
import type { ListedProduct, Product } from './product.ts'
import { briefColumns, columns, keyColumns, listedColumns } from './product-columns.store.ts'
import { toFields } from './product-fields.ts'
import { productOrders } from './product-orders.ts'
import { productTopic } from './product-topic.ts'
import type { ProductsConfig } from './products.keys.ts'
import { createProductLists } from './products.lists.ts'
import { createNameTextIndex, createProductSearch } from './products.search.ts'
import { createProducts } from './products.service.ts'
import { createProductStore } from './products.store.ts'
import { createStockStore } from './stock.store.ts'
import { inventProducts } from './transfer/product-seed.ts'

export type ProductsService = ReturnType<typeof createProductsService>

export function createProductsService(
  infrastructure: Infrastructure<ProductsConfig>,
  { users }: { users: UsersService },
) {
  const { config, clock, db, counts, events, announce, random, changes, responses, limitPerAddress } = infrastructure
  const { collectionLimit, writePermission } = config.products
  const store = createProductStore({ db, clock, counts })
  const createIndex = db.dialect === 'sqlite' ? createSqliteNameIndex : createPostgresNameIndex
  const createSearch = (selected: string) =>
    createProductSearch({ store, counts, index: createIndex(db, selected), columns: selected })
  const createOrders = <Row extends { id: number }>(selected: string) =>
    createSortedList<Row>({
      db,
      definition: productOrders,
      columns: selected,
      textIndex: createNameTextIndex({ counts, index: createIndex(db) }),
      countAll: () => counts.total('products'),
    })
  const products = createProducts({
    store,
    briefSearch: createSearch(briefColumns),
    descriptions: createDescriptionStore(db),
    clock,
    collectionLimit,
    onCreated: (product) => events.emit(productCreated, product),
    onChanged: changes.wake,
  })
  return {
    products,
    isRegistrationOpen: users.isRegistrationOpen,
    countProducts: () => counts.total('products'),
    lists: createProductLists({
      store,
      search: createSearch(listedColumns),
      keySearch: createSearch(keyColumns),
      sorted: createOrders<ListedProduct>(listedColumns),
      collectionLimit,
    }),
    /** For pages. */
    sorted: createOrders<Product>(briefColumns),
    bulk: createBulkChanges({ store, onChanged: changes.wake }),
    listExport: { store, sorted: createOrders<ListedProduct>(listedColumns), keySearch: createSearch(keyColumns) },
    stock: {
      ...createStockStore({ db, clock }),
      /** Call it after the batch is committed: readers of the change log then look at once. */
      notify: changes.wake,
    },
    /** Loads products for the GraphQL type Product, in the order of the ids; null for missing ones. */
    async loadFields(ids: readonly number[]) {
      const rows = await store.readByIds<Product>([...new Set(ids)], columns)
      const byId = new Map(rows.map((row) => [row.id, toFields(row)]))
      return ids.map((id) => byId.get(id) ?? null)
    },
    /** A statement that adds made-up products, the same at each call; as many as one write may hold. */
    createSamples: (count: number, by: number) =>
      insertMany(db.dialect, inventProducts(1).take(count), clock.nowIso(), by),
    forms: createProductForms({ writePermission }, products),
    imports: createProductImports({ db, clock, onChanged: changes.wake }),
    uploads: uploadsOf(infrastructure),
    history: createProductHistory({ changes, users, retentionDays: config.changes.retentionDays }),
    publicUrl: config.server.publicUrl,
    random,
    changes,
    responses,
    topic: productTopic,
    changeReadersPerAddress: limitPerAddress('change-readers', config.graphql.maxSocketsPerAddress),
    /** Publishes to GraphQL subscribers on every node. */
    announceCreated: (product: object) => announce(productCreatedTopic, product),
  }
}
