/** What the routes of the product pages share. */
import type { FastifyRequest } from 'fastify'
import type { Uploads } from '../../../collections/transfer/uploads.ts'
import { AppError } from '../../../core/app-error.ts'
import type { Random } from '../../../core/random.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import type { ChangeLog } from '../../../platform/changes/change-log.ts'
import type { SortedList } from '../../../platform/listing/sorted-list.store.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import type { BulkChanges } from '../bulk-changes.ts'
import type { Product } from '../product.ts'
import type { ListExportDeps } from '../transfer/list-export.ts'
import type { ProductForms } from './product-forms.ts'
import type { ProductHistory, Reader } from './product-history.ts'
import type { ProductImports } from './product-imports.ts'

export interface ProductPagesDeps extends PageKit {
  forms: ProductForms
  /** Without descriptions. */
  sorted: SortedList<Product>
  bulk: BulkChanges
  listExport: ListExportDeps
  history: ProductHistory
  imports: ProductImports
  uploads: Uploads
  changes: ChangeLog
  random: Random
  publicUrl: string | undefined
}

export const one = '/products/:id(^[0-9]+$)'
export const reading = { config: { access: 'authenticated', docs: false } } as const

export async function findProduct(products: ProductForms, id: number | undefined) {
  try {
    return await products.get(id)
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return undefined
    throw error
  }
}

/** Those who may change products see each other's names. Emails are for those who may see users, as everywhere. */
export function readerOf(request: FastifyRequest, products: ProductForms): Reader {
  const principal = principalOf(request)
  const seesEmails = principal.can('users.view')
  return { id: principal.id, seesNames: seesEmails || products.mayWrite(principal), seesEmails }
}

/** As in the API: blank counts as absent, and the first of several values counts. */
export function textOf(given: unknown): string | undefined {
  const [text] = [given].flat()
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}
