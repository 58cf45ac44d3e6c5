/** Exports all products that are not deleted, by id, in pages; long ones one by one, to bound memory. */
import type { Format } from '../../../collections/transfer/records.ts'
import { type CsvCell, csvText } from '../../../platform/csv/csv-text.ts'
import type { MaintainedCounts } from '../../../platform/database/maintained-counts.ts'
import { groupByLength, isWhole, type Product } from '../product.ts'
import { columns } from '../product-columns.store.ts'
import type { ProductStore } from '../products.store.ts'
import { type ExportedColumn, exportedColumns } from './columns.ts'
import { type ProductExportStore, pageSize } from './product-export.store.ts'

export interface ExportedPage {
  text: string
  products: number
}

export interface ExportLayout {
  format: Format
  /** Writes CSV cells as they are, including those that a spreadsheet would run as formulas. */
  isExact: boolean
}

export interface ProductExportDeps {
  counts: MaintainedCounts
  exports: ProductExportStore
  store: ProductStore
}

export function createProductExport({ counts, exports, store }: ProductExportDeps) {
  async function* pages(layout: ExportLayout): AsyncGenerator<ExportedPage> {
    if (layout.format === 'csv') yield { text: csvText([exportedColumns]), products: 0 }
    for (let last = 0; ; ) {
      const listed = await exports.readPage(last)
      for (const group of groupByLength(listed)) {
        const products = group.every(isWhole)
          ? group
          : await store.readByIds<Product>(
              group.map(({ id }) => id),
              columns,
            )
        yield { text: exportText(products as Product[], layout), products: products.length }
      }
      if (listed.length < pageSize) return
      last = listed.at(-1)?.id ?? last
    }
  }

  return { pages, total: () => counts.total('products') }
}

export type ProductExport = ReturnType<typeof createProductExport>

export function exportText(products: readonly Product[], { format, isExact }: ExportLayout): string {
  if (format === 'ndjson') {
    return products.map((product) => `${JSON.stringify(toRow(product, product.price_cents / 100))}\n`).join('')
  }
  const rows = products.map((product) => toRow(product, (product.price_cents / 100).toFixed(2)))
  return csvText(
    rows.map((row) => exportedColumns.map((column) => row[column] as CsvCell)),
    { isExact },
  )
}

function toRow(product: Product, price: unknown): Record<string, unknown> {
  const values: Record<ExportedColumn, unknown> = { ...product, price }
  const row: Record<string, unknown> = {}
  for (const column of exportedColumns) row[column] = values[column]
  return row
}
