/** Imports files of products that a browser sends: checked and identified as by the command products:import. */
import type { ImportPages } from '../../../collections/console/import.routes.ts'
import { createImportProgress } from '../../../collections/store/import-progress.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { ProductValues } from '../product.ts'
import { readColumns, requiredColumns } from '../transfer/columns.ts'
import { createProductImport } from '../transfer/product-import.ts'

export interface ProductImportsDeps {
  db: Database
  clock: Clock
  /** Called after rows are committed. */
  onChanged(): void
}

export type ProductImports = ReturnType<typeof createProductImports>

export function createProductImports({ db, clock, onChanged }: ProductImportsDeps) {
  const progress = createImportProgress('product_imports', { db, clock })
  // The service's own connection, whose settings stay as they are.
  const openWriter = async () => ({
    async write(...statements: Parameters<Database['write']>) {
      const [first = []] = await db.write(...statements)
      onChanged()
      return first
    },
    settle: async () => {},
  })
  const importer = createProductImport({ db, clock, store: progress, openWriter })
  const thread = { file: new URL('../transfer/upload-thread.ts', import.meta.url) }
  const columns = {
    required: requiredColumns,
    optional: readColumns.filter((column) => !requiredColumns.includes(column)),
    samples: ['Name', 'Description', 'Price', 'Category', 'Stock'],
  }
  return {
    words: { one: 'product', many: 'products', again: 'Import it once more' },
    columnsFor: () => columns,
    progress,
    threadFor: () => thread,
    async write(rows, { id, done, principal, signal }) {
      const job = { rows, id, done, by: principal.id, signal, onRejected() {}, onProgress() {} }
      const { imported, isInterrupted } = await importer.run(job)
      return { imported, isInterrupted, refused: 0, problems: [] }
    },
  } satisfies Omit<ImportPages<ProductValues>, 'access'>
}
