/**
 * Lists of products for REST, of any size. Which products a list has, and in which order, is settled by one statement.
 * Long descriptions are read afterwards, a few at a time: a product that has changed in between is shown as it is then,
 * at the place that it had.
 */
import { serviceUnavailable } from '../../core/app-error.ts'
import { createConcurrencyLimit } from '../../core/concurrency-limit.ts'
import type { ListPart, ListReading } from '../../platform/http/long-lists.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import {
  etagOfProduct,
  groupByLength,
  isWhole,
  type ListedProduct,
  type Product,
  type ProductKey,
  toResource,
} from './product.ts'
import type { ProductSearch } from './products.search.ts'
import { columns, listedColumns, type ProductStore } from './products.store.ts'

export interface ProductListsDeps {
  store: ProductStore
  /** Reads `listedColumns`. */
  search: ProductSearch
  /** Reads `keyColumns`. */
  keySearch: ProductSearch
  /** 0 means: as many as there are. */
  collectionLimit: number
}

export interface ProductList {
  keys: readonly ProductKey[]
  /** The same products, where they are not too many. */
  products: readonly ListedProduct[] | undefined
  /** There are more than `products.collection_limit`. */
  isCut: boolean
}

/** More are not held but read as they are sent. */
const maxProducts = 2000
/** With short descriptions, some 100 KB. */
const productsPerRead = 32
/** However many clients ask for lists, so many searches for them are asked of the database at once. */
const readsAtOnce = 4
/** The database has a queue too, which is shorter and for everybody. */
const maxWaiting = 2000

export function createProductLists({ store, search, keySearch, collectionLimit }: ProductListsDeps) {
  const limit = collectionLimit === 0 ? Number.MAX_SAFE_INTEGER : collectionLimit + 1
  const refusal = () => serviceUnavailable()
  const inSearchSlot = createConcurrencyLimit({ atOnce: readsAtOnce, maxWaiting, refusal })

  async function collect(read: (from: ProductSearch, most: number) => Promise<Product[]>): Promise<ProductList> {
    return inSearchSlot(async () => {
      // As many as `listedColumns` has: their long descriptions are null.
      const products = (await read(search, Math.min(limit, maxProducts + 1))) as readonly ListedProduct[]
      if (products.length > maxProducts && limit > maxProducts + 1) {
        const keys = await read(keySearch, limit)
        return {
          keys: keys.length === limit ? keys.slice(0, -1) : keys,
          products: undefined,
          isCut: keys.length === limit,
        }
      }
      const isCut = products.length === limit
      const kept = isCut ? products.slice(0, -1) : products
      return { keys: kept, products: kept, isCut }
    })
  }

  /** Whole products, in the order of the ids. */
  async function readWhole(ids: readonly number[]): Promise<Product[]> {
    if (ids.length === 1) return store.readByIds<Product>(ids, columns)
    const products = await store.readByIds<ListedProduct>(ids, listedColumns)
    const whole: Product[] = []
    for (const product of products) {
      // It has become long since the list was read.
      if (isWhole(product)) whole.push(product)
      else whole.push(...(await readWhole([product.id])))
    }
    return whole
  }

  function createPart(listed: readonly ListedProduct[]): ListPart {
    const ids = listed.map(({ id }) => id)
    let known = listed.every(isWhole) ? (listed as readonly Product[]) : undefined
    return {
      key: keyOf(listed),
      async read() {
        const products = known ?? (await readWhole(ids))
        known = undefined
        const text = JSON.stringify(products.map(toResource))
        return { key: keyOf(products), bytes: Buffer.from(text.slice(1, -1)), count: products.length }
      },
    }
  }

  return {
    search: (q: string): Promise<ProductList> => collect((from, most) => from.byName(q, most)),

    byCategory: (category: string): Promise<ProductList> => collect((from, most) => from.byCategory(category, most)),

    async page(page: Page): Promise<ProductList & { total: number }> {
      const { products, total } = await store.list<ListedProduct>(
        { before: offsetOf(page), limit: page.perPage },
        listedColumns,
      )
      return { keys: products, products, total, isCut: false }
    },

    /** In parts, as long descriptions cut the list. */
    async *parts(ids: Float64Array, { held, schedule }: ListReading<ListedProduct>): AsyncGenerator<ListPart> {
      const readListed = (some: readonly number[]) =>
        schedule(() => store.readByIds<ListedProduct>(some, listedColumns))
      for (let start = 0; start < ids.length; start += productsPerRead) {
        const end = start + productsPerRead
        const listed = held()?.slice(start, end) ?? (await readListed([...ids.subarray(start, end)]))
        for (const group of groupByLength(listed)) yield createPart(group)
      }
    },
  }
}

export type ProductLists = ReturnType<typeof createProductLists>

function keyOf(products: readonly ProductKey[]): string {
  return products.map((product) => `${product.id} ${etagOfProduct(product)}`).join()
}
