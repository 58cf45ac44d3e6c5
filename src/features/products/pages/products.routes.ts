/** The console pages of products: the list, and those of one product. */
import type { FastifyInstance } from 'fastify'
import { addImportPages } from '../../../collections/console/import.routes.ts'
import { addRowEditing, editedOf, type SendList } from '../../../collections/console/row-edit.routes.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { idOf, parseId } from '../../../platform/http/ids.ts'
import { formatPrice, type Product } from '../product.ts'
import { addBulkPages } from './bulk.routes.ts'
import { addExport } from './export.routes.ts'
import { normaliseForm, valuesOf } from './form-fields.ts'
import { addHistoryPage } from './history.routes.ts'
import { backAddress } from './list-address.ts'
import { createListPage } from './list-page.ts'
import { addFormPages } from './product-form.routes.ts'
import { findProduct, one, type ProductPagesDeps, reading, textOf } from './product-pages.ts'

export function addProductPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  addListPage(app, deps, createListPage(deps))
  addBulkPages(app, deps)
  addExport(app, deps)
  addFormPages(app, deps)
  addHistoryPage(app, deps)
  const { forms, imports, uploads, send } = deps
  const access = { config: { access: forms.writeAccess, docs: false } } as const
  addImportPages(app, { ...imports, access, uploads, send })
}

function addListPage(app: FastifyInstance, { forms, notices }: ProductPagesDeps, sendList: SendList<Product>): void {
  app.get<{ Querystring: Record<string, unknown> }>(
    '/products',
    { ...reading, onSend: compressResponse },
    async (request, reply) => {
      const { query } = request
      const product = await findProduct(forms, parseId(textOf(query.edit) ?? ''))
      return sendList(request, reply, { query, edited: editedOf(product, forms.tagOf) })
    },
  )
  addRowEditing<Product>(app, {
    path: one,
    access: { config: { access: forms.writeAccess, docs: false } },
    notices,
    saved: 'product-saved',
    find: (request) => findProduct(forms, idOf(request)),
    findDeleted: (request) => forms.findDeleted(idOf(request)),
    pick: ({ price, stock }) => ({ price, stock }),
    read(form, product) {
      const { price, stock } = valuesOf(product)
      return normaliseForm({ price: form.price ?? price, stock: form.stock ?? stock })
    },
    save: (request, typed, { row, tag }) => forms.updateRow(row.id, typed, { tag, userId: principalOf(request).id }),
    tagOf: forms.tagOf,
    changedNote: ({ price_cents, stock }) =>
      `Somebody else changed it: the price is ${formatPrice(price_cents)} now, the stock ${stock.toLocaleString('en')}. Save again to overwrite that.`,
    backAddress,
    sendList,
  })
}
