/** The pages of one product: forms to create and edit it, and what is beside them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { idOf, parseId } from '../../../platform/http/ids.ts'
import { visitedAddress } from '../../../platform/http/visited-address.ts'
import { noProblems, problemsOf } from '../../../platform/pages/components/forms.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import type { Product } from '../product.ts'
import { conflictNote, goneNote } from './conflict.views.ts'
import { normaliseForm, valuesToEdit } from './form-fields.ts'
import { historyCard } from './history.views.ts'
import { detailsPage, duplicateNote, editPage, newPage } from './product.views.ts'
import type { Form } from './product-forms.ts'
import { findProduct, one, type ProductPagesDeps, readerOf, reading, textOf } from './product-pages.ts'
import { snippetsOf } from './snippets.ts'
import { snippetsCard } from './snippets.views.ts'

/** On the page of a product. */
const newestVersions = 10

export function addFormPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  const { forms: products, notices, send } = deps
  const { sendNew, sendRefused, readBeside } = createFormResponses(deps)
  const writing = { config: { access: products.writeAccess, docs: false } } as const

  app.get<{ Querystring: Record<string, unknown> }>('/products/new', writing, async (request, reply) => {
    const from = textOf(request.query.from)
    if (from === undefined) return sendNew(request, reply)
    const product = await products.get(parseId(from))
    return sendNew(request, reply, { values: valuesToEdit(product), note: duplicateNote(product) })
  })

  app.post<{ Body: Form }>('/products', writing, async (request, reply) => {
    const form = markAsForm(normaliseForm(request.body))
    try {
      await products.create(form, { userId: principalOf(request).id, key: String(form.key ?? '') })
      return notices.redirect(reply, { address: '/console/products', notice: 'product-created' })
    } catch (error) {
      return sendNew(request, reply, { values: form, ...problemsOf(error) })
    }
  })

  app.get(one, reading, async (request, reply) => {
    const product = await products.get(idOf(request))
    const beside = await readBeside(request, product)
    if (!products.mayWrite(principalOf(request))) return send(request, reply, detailsPage(product, beside))
    const categories = await products.suggestCategories()
    const view = { product, tag: products.tagOf(product), values: valuesToEdit(product), categories, beside }
    return send(request, reply, editPage(view))
  })

  app.post<{ Body: Form }>(one, writing, async (request, reply) => {
    const id = idOf(request)
    // Browsers omit unchecked checkboxes.
    const values = markAsForm(normaliseForm({ ...request.body, active: request.body.active ?? 'false' }))
    try {
      await products.update(id, values, { tag: String(values.tag ?? ''), userId: principalOf(request).id })
      return notices.redirect(reply, { address: `/console/products/${id}`, notice: 'product-saved' })
    } catch (error) {
      return sendRefused(request, reply, { error, id, values })
    }
  })

  app.post(`${one}/delete`, writing, async (request, reply) => {
    const id = idOf(request)
    await products.delete(id, { by: principalOf(request).id })
    return reply.redirect(`/console/products?deleted=${id}`, 303)
  })

  app.post(`${one}/restore`, writing, async (request, reply) => {
    const id = idOf(request)
    await products.restore(id, principalOf(request).id)
    return notices.redirect(reply, { address: `/console/products/${id}`, notice: 'product-restored' })
  })
}

/** Sends the forms, empty or with the submitted values. */
function createFormResponses({ forms: products, history, publicUrl, random, send }: ProductPagesDeps) {
  /** What the page of a product shows beside the form. */
  async function readBeside(request: FastifyRequest, product: Product): Promise<Html> {
    const { id } = product
    const versions = await history.read({ id, limit: newestVersions, reader: readerOf(request, products) })
    const address = publicUrl ?? visitedAddress(request)
    return html`${snippetsCard(snippetsOf(product, address))}
${historyCard(id, versions)}`
  }

  async function sendNew(
    request: FastifyRequest,
    reply: FastifyReply,
    { values, problems = noProblems, note, status }: Parameters<typeof newPage>[0] & { status?: number } = {},
  ): Promise<FastifyReply> {
    const categories = await products.suggestCategories()
    return send(request, reply, newPage({ values, problems, note, categories, key: random.id() }), status)
  }

  /** Keeps the submitted values, whatever the reason. */
  async function sendRefused(
    request: FastifyRequest,
    reply: FastifyReply,
    { error, id, values }: { error: unknown; id: number | undefined; values: Form },
  ): Promise<FastifyReply> {
    const { problems, status } = problemsOf(error)
    const product = await findProduct(products, id)
    if (!product) return sendNew(request, reply, { values, note: goneNote, status })
    const hasChanged = status === 412
    const view = {
      product,
      beside: await readBeside(request, product),
      // The user sees the current version now and may overwrite it.
      tag: hasChanged ? products.tagOf(product) : String(values.tag ?? ''),
      values,
      categories: await products.suggestCategories(),
      ...(hasChanged ? { note: conflictNote(product, values) } : { problems }),
    }
    return send(request, reply, editPage(view), status)
  }

  return { sendNew, sendRefused, readBeside }
}
