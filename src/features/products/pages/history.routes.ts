/** All versions of a product. Of a deleted one too, as long as the change log has it. */
import type { FastifyInstance } from 'fastify'
import { idOf, parseId } from '../../../platform/http/ids.ts'
import { productErrors } from '../products.service.ts'
import { historyPage } from './history.views.ts'
import { findProduct, one, type ProductPagesDeps, readerOf, reading, textOf } from './product-pages.ts'

const versionsPerPage = 20

export function addHistoryPage(app: FastifyInstance, { forms: products, history, send }: ProductPagesDeps): void {
  app.get<{ Querystring: Record<string, unknown> }>(`${one}/history`, reading, async (request, reply) => {
    const id = idOf(request)
    if (id === undefined) throw productErrors.notFound()
    const before = parseId(textOf(request.query.before) ?? '')
    const reader = readerOf(request, products)
    const [product, found] = await Promise.all([
      findProduct(products, id),
      history.read({ id, before, limit: versionsPerPage, reader }),
    ])
    const name = product?.name ?? found.name
    if (name === undefined) throw productErrors.notFound()
    const isLater = before !== undefined
    return send(request, reply, historyPage({ id, name, isDeleted: !product, isLater, history: found }))
  })
}
