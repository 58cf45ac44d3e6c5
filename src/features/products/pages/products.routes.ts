/** The console pages of products: the list, and forms to create, edit and delete. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/app-error.ts'
import type { Random } from '../../../core/random.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { idOf, parseId } from '../../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../../platform/http/paging.ts'
import { noProblems, problemsOf } from '../../../platform/pages/components/forms.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { markAsForm } from '../../../platform/validation/body-validation.ts'
import type { Wanted } from '../products.service.ts'
import { conflictNote, goneNote } from './conflict.views.ts'
import { normaliseForm, valuesOf } from './form-fields.ts'
import { detailsPage, editPage, newPage } from './product.views.ts'
import type { Form, ProductForms } from './product-forms.ts'
import { foundPerPage, listPage, maxFoundPages } from './products.views.ts'

const one = '/products/:id(^[0-9]+$)'
const maxCategories = 100
const perPage = 25

export interface ProductPagesDeps extends PageKit {
  forms: ProductForms
  random: Random
}

const reading = { config: { access: 'authenticated', docs: false } } as const

export function addProductPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  addListPage(app, deps)
  addFormPages(app, deps)
}

function addListPage(app: FastifyInstance, { forms: products, send }: ProductPagesDeps): void {
  app.get<{ Querystring: Record<string, unknown> }>(
    '/products',
    { ...reading, onSend: compressResponse },
    async (request, reply) => {
      const { query } = request
      const wanted = { q: textOf(query.q), category: textOf(query.category) }
      const page = { page: pageOf(query).page, perPage }
      const isFiltered = wanted.q !== undefined || wanted.category !== undefined
      const [categories, found, listed] = await Promise.all([
        products.listCategories(maxCategories),
        isFiltered ? findPage(products, wanted, page.page) : undefined,
        isFiltered ? undefined : products.listNewest(page),
      ])
      const view = {
        wanted,
        categories,
        mayWrite: products.mayWrite(principalOf(request)),
        // The parameter is untrusted, so the product is looked up.
        deleted: await products.findDeleted(parseId(textOf(query.deleted) ?? '')),
        formatPrice: products.formatPrice,
      }
      if (found) return send(request, reply, listPage({ ...view, found }))
      const { products: rows, total } = listed ?? { products: [], total: 0 }
      return send(request, reply, listPage({ ...view, listed: { products: rows, meta: metaOf(page, total) } }))
    },
  )
}

/** Reads results up to the page, plus one to tell whether there is another page. */
async function findPage(products: ProductForms, wanted: Wanted, asked: number) {
  const page = Math.min(asked, maxFoundPages)
  const found = await products.find({ ...wanted, limit: page * foundPerPage + 1 })
  const start = (page - 1) * foundPerPage
  return { page, products: found.slice(start, start + foundPerPage), hasMore: found.length > start + foundPerPage }
}

function addFormPages(app: FastifyInstance, deps: ProductPagesDeps): void {
  const { forms: products, notices, send } = deps
  const { sendNew, sendRefused } = createFormResponses(deps)
  const writing = { config: { access: products.writeAccess, docs: false } } as const

  app.get('/products/new', writing, (request, reply) => sendNew(request, reply))

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
    if (!products.mayWrite(principalOf(request))) {
      return send(request, reply, detailsPage(product))
    }
    const categories = await products.listCategories(maxCategories)
    const values = valuesOf(product)
    return send(request, reply, editPage({ id: product.id, tag: products.tagOf(product), values, categories }))
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
function createFormResponses({ forms: products, random, send }: ProductPagesDeps) {
  async function sendNew(
    request: FastifyRequest,
    reply: FastifyReply,
    { values, problems = noProblems, note, status }: Parameters<typeof newPage>[0] & { status?: number } = {},
  ): Promise<FastifyReply> {
    const categories = await products.listCategories(maxCategories)
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
      id: product.id,
      // The user sees the current version now and may overwrite it.
      tag: hasChanged ? products.tagOf(product) : String(values.tag ?? ''),
      values,
      categories: await products.listCategories(maxCategories),
      ...(hasChanged ? { note: conflictNote(product, values) } : { problems }),
    }
    return send(request, reply, editPage(view), status)
  }

  return { sendNew, sendRefused }
}

async function findProduct(products: ProductForms, id: number | undefined) {
  try {
    return await products.get(id)
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return undefined
    throw error
  }
}

/** As in the API: blank counts as absent, and the first of several values counts. */
function textOf(given: unknown): string | undefined {
  const [text] = [given].flat()
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}
