import type { Database } from '../../../platform/database/database.ts'
import type { ListedProduct } from '../product.ts'
import { listedColumns } from '../product-columns.store.ts'

export const pageSize = 200

export function createProductExportStore(db: Database) {
  return {
    /** Long descriptions are null. */
    readPage: (after: number) =>
      db.all<ListedProduct>(
        `SELECT ${listedColumns} FROM products WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT ${pageSize}`,
        [after],
      ),
  }
}

export type ProductExportStore = ReturnType<typeof createProductExportStore>
