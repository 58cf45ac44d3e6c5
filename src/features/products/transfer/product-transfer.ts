/** Bulk import, export and seed for the products:* commands. */

import { createImportProgress } from '../../../collections/store/import-progress.ts'
import type { Infrastructure } from '../../../platform/infrastructure.ts'
import { createProductStore } from '../products.store.ts'
import { createProductExportStore } from './product-export.store.ts'
import { createProductExport } from './product-export.ts'
import { createProductImport } from './product-import.ts'
import { createProductSeed } from './product-seed.ts'

export function createProductTransfer({ db, clock, counts }: Pick<Infrastructure, 'db' | 'clock' | 'counts'>) {
  const store = createProductStore({ db, clock, counts })
  const imports = createImportProgress('product_imports', { db, clock })
  return {
    imports,
    importer: createProductImport({ db, clock, store: imports }),
    exporter: createProductExport({ counts, exports: createProductExportStore(db), store }),
    seed: createProductSeed({ db, clock }),
  }
}

export type ProductTransfer = ReturnType<typeof createProductTransfer>
