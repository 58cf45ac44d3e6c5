/** All products that are not deleted, by id, as text: page by page, so that it takes no memory to speak of. */
import { stringify } from 'csv-stringify/sync'
import type { Database } from '../../../platform/database/database.ts'
import type { KeptCounts } from '../../../platform/database/kept-counts.ts'
import type { Product } from '../product.ts'
import { columns } from '../products.store.ts'
import { exportedColumns } from './columns.ts'
import type { Format } from './records.ts'

export interface ExportedPage {
  text: string
  products: number
}

/** Even where each has a description of a megabyte, so many can be read and written at once. */
const pageSize = 200

export function createProductExport({ db, counts }: { db: Database; counts: KeptCounts }) {
  async function* pages(format: Format): AsyncGenerator<ExportedPage> {
    if (format === 'csv') yield { text: stringify([exportedColumns]), products: 0 }
    for (let last = 0; ; ) {
      const products = await db.all<Product>(
        `SELECT ${columns} FROM products WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT ${pageSize}`,
        [last],
      )
      if (products.length > 0) yield { text: toText(products, format), products: products.length }
      if (products.length < pageSize) return
      last = products.at(-1)?.id ?? last
    }
  }

  return { pages, total: () => counts.total('products') }
}

export type ProductExport = ReturnType<typeof createProductExport>

function toText(products: readonly Product[], format: Format): string {
  if (format === 'ndjson') {
    return products.map((product) => `${JSON.stringify(toRow(product, product.price_cents / 100))}\n`).join('')
  }
  const rows = products.map((product) => toRow(product, (product.price_cents / 100).toFixed(2)))
  return stringify(rows, {
    columns: [...exportedColumns],
    cast: { boolean: String },
    // At the end of a row it would be taken for half of a line break.
    quoted_match: /\r/,
  })
}

function toRow(
  { id, name, slug, description, category, stock, active, created_at, updated_at }: Product,
  price: unknown,
) {
  return { id, name, slug, description, price, category, stock, active, created_at, updated_at }
}
