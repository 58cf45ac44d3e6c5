/** Products by the thousand: what the products:* commands work with. */
import { createProductStore } from '../features/products/products.store.ts'
import { createProductExport } from '../features/products/transfer/product-export.ts'
import { createProductImport } from '../features/products/transfer/product-import.ts'
import { createProductImportStore } from '../features/products/transfer/product-imports.store.ts'
import { createProductSeed } from '../features/products/transfer/product-seed.ts'
import { createMaintainedCounts } from '../platform/database/maintained-counts.ts'
import type { Infrastructure } from './infrastructure.ts'

export function createProductTransfer({ db, clock }: Infrastructure) {
  const counts = createMaintainedCounts(db)
  const store = createProductStore({ db, clock, counts })
  const imports = createProductImportStore({ db, clock })
  return {
    imports,
    importer: createProductImport({ db, clock, store: imports }),
    exporter: createProductExport({ db, counts, store }),
    seed: createProductSeed({ db, clock }),
  }
}

export type ProductTransfer = ReturnType<typeof createProductTransfer>
