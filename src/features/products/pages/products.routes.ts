/** The console pages of products: the list, and those of one product. */
import type { FastifyInstance } from 'fastify'
import { compressResponse } from '../../../platform/http/compression.ts'
import { parseId } from '../../../platform/http/ids.ts'
import { addBulkPages } from './bulk.routes.ts'
import { addExport } from './export.routes.ts'
import { addHistoryPage } from './history.routes.ts'
import { addImportPages } from './import.routes.ts'
import { createListPage } from './list-page.ts'
import { addFormPages } from './product-form.routes.ts'
import { findProduct, type ProductPagesDeps, reading, textOf } from './product-pages.ts'
import { addRowEditing } from './row-edit.routes.ts'

export function addProductPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  addListPage(app, deps)
  addRowEditing(app, deps)
  addBulkPages(app, deps)
  addExport(app, deps)
  addFormPages(app, deps)
  addHistoryPage(app, deps)
  addImportPages(app, deps)
}

function addListPage(app: FastifyInstance, deps: ProductPagesDeps): void {
  const { forms } = deps
  const sendList = createListPage(deps)
  app.get<{ Querystring: Record<string, unknown> }>(
    '/products',
    { ...reading, onSend: compressResponse },
    async (request, reply) => {
      const { query } = request
      const product = await findProduct(forms, parseId(textOf(query.edit) ?? ''))
      const edited = product && { product, row: { id: product.id, tag: forms.tagOf(product) } }
      return sendList(request, reply, { query, edited })
    },
  )
}
