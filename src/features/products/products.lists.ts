/**
 * Product lists of any size for REST. One statement determines the products of a list and their order. Long descriptions are
 * loaded later, a few at a time; a product that has changed in between appears in its new state at its old position.
 */
import { unpooledBytes } from '../../core/unpooled-bytes.ts'
import { createScanQueue } from '../../platform/database/scan-queue.ts'
import type { ListPart, ListReading } from '../../platform/http/long-lists.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import type { ListQuery } from '../../platform/listing/list-definition.ts'
import type { SortedList, SortedPage } from '../../platform/listing/sorted-list.store.ts'
import { etagOfProduct, groupByLength, isWhole, type ListedProduct, type Product, type ProductKey } from './product.ts'
import { columns, listedColumns } from './product-columns.store.ts'
import { toResource } from './product-resource.ts'
import type { ProductSearch } from './products.search.ts'
import type { ProductStore } from './products.store.ts'

export interface ProductListsDeps {
  store: ProductStore
  /** Reads `listedColumns`. */
  search: ProductSearch
  /** Reads `keyColumns`. */
  keySearch: ProductSearch
  /** Reads `listedColumns`. */
  sorted: SortedList<ListedProduct>
  /** 0 means no limit. */
  collectionLimit: number
}

export interface ProductList {
  keys: readonly ProductKey[]
  /** The same products, unless there are too many. */
  products: readonly ListedProduct[] | undefined
  /** There are more than `products.collection_limit`. */
  isCut: boolean
}

/** Longer lists are not held in memory, but read while they are sent. */
const maxProducts = 2000
/** With short descriptions, some 100 KB. */
const productsPerRead = 32
/** Each may hold `maxProducts` in memory while it reads the keys of the others. */
const searchesAtOnce = 4

export function createProductLists({ store, search, keySearch, sorted, collectionLimit }: ProductListsDeps) {
  const limit = collectionLimit === 0 ? Number.MAX_SAFE_INTEGER : collectionLimit + 1
  const searches = createScanQueue(searchesAtOnce)

  async function collect(read: (from: ProductSearch, most: number) => Promise<Product[]>): Promise<ProductList> {
    return searches.run(async () => {
      // `search` reads `listedColumns`, in which long descriptions are null.
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

  /** Products with their descriptions, in the order of the ids. */
  async function readWhole(ids: readonly number[]): Promise<Product[]> {
    if (ids.length === 1) return store.readByIds<Product>(ids, columns)
    const products = await store.readByIds<ListedProduct>(ids, listedColumns)
    const whole: Product[] = []
    for (const product of products) {
      // The description has become long since the list was read.
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
        return { key: keyOf(products), bytes: unpooledBytes(text.slice(1, -1)), count: products.length }
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

    async sorted(query: ListQuery): Promise<ProductList & { page: SortedPage<ListedProduct> }> {
      const page = await sorted.page(query)
      return { keys: page.rows, products: page.rows, isCut: false, page }
    },

    /** Splits the list at long descriptions. */
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
