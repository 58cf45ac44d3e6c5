/** What a list of the console shows, as CSV: a search, or what passes filters, in its order. Memory is bounded. */
import { csvText } from '../../../platform/csv/csv-text.ts'
import type { ListQuery } from '../../../platform/listing/list-definition.ts'
import type { SortedList } from '../../../platform/listing/sorted-list.store.ts'
import { groupByLength, isWhole, type ListedProduct, type Product } from '../product.ts'
import { columns, listedColumns } from '../product-columns.store.ts'
import type { ProductSearch } from '../products.search.ts'
import type { ProductStore } from '../products.store.ts'
import { exportedColumns } from './columns.ts'
import { exportText } from './product-export.ts'

export interface ListExportDeps {
  store: Pick<ProductStore, 'readByIds'>
  /** Reads `listedColumns`. */
  sorted: Pick<SortedList<ListedProduct>, 'batches'>
  /** Reads `keyColumns`. */
  keySearch: Pick<ProductSearch, 'byName'>
}

export interface ExportedSearch {
  q: string
  category: string | undefined
}

/** With short descriptions, some 100 KB. */
const productsPerRead = 100

/** Yields parts of the file. */
export async function* exportList(
  { store, sorted, keySearch }: ListExportDeps,
  asked: ListQuery | ExportedSearch,
): AsyncGenerator<string> {
  yield csvText([exportedColumns])
  // By cursor: what changes meanwhile is in the file once or not at all.
  const lists = 'q' in asked ? readFound(asked) : sorted.batches({ ...asked, skip: 0, limit: productsPerRead })
  for await (const listed of lists) {
    for (const group of groupByLength(listed)) {
      const ids = group.map(({ id }) => id)
      const products = group.every(isWhole) ? group : await store.readByIds<Product>(ids, columns)
      yield exportText(products as readonly Product[], { format: 'csv', isExact: false })
    }
  }

  /** A search has no cursors, so its ids are held: 8 bytes for each product. */
  async function* readFound({ q, category }: ExportedSearch): AsyncGenerator<ListedProduct[]> {
    const found = await keySearch.byName(q, Number.MAX_SAFE_INTEGER, category)
    const ids = Float64Array.from(found, ({ id }) => id)
    found.length = 0
    for (let start = 0; start < ids.length; start += productsPerRead) {
      yield store.readByIds<ListedProduct>([...ids.subarray(start, start + productsPerRead)], listedColumns)
    }
  }
}
