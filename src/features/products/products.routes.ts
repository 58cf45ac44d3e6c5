import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { createChangesHandler } from '../../platform/changes/http/changes-handler.ts'
import { compressResponse } from '../../platform/http/compression.ts'
import { ifMatch, isUnchanged } from '../../platform/http/conditional-requests.ts'
import { idOf } from '../../platform/http/ids.ts'
import { sendList } from '../../platform/http/long-lists.ts'
import { linksOf, metaOf, pageOf } from '../../platform/http/paging.ts'
import type { ConnectionsPerAddress } from '../../platform/limiter/connections-per-address.ts'
import { asksForList, readListQuery } from '../../platform/listing/list-query.ts'
import { cursorLinksOf, cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { etagOfManyProducts, etagOfProduct, type Product } from './product.ts'
import { productOrders } from './product-orders.ts'
import { OneProduct, toResource } from './product-resource.ts'
import { productTopic } from './product-topic.ts'
import { createWriteAccess } from './products.access.ts'
import { docs } from './products.docs.ts'
import type { ProductList, ProductLists } from './products.lists.ts'
import { ChangedProduct, NewProduct, toChange, toInput } from './products.schema.ts'
import { type Products, requireKeyLength } from './products.service.ts'

export interface ProductRoutesDeps {
  products: Products
  lists: ProductLists
  changes: ChangeLog
  changeReadersPerAddress: ConnectionsPerAddress
  /** Required for writing, in addition to a token. */
  writePermission: string | undefined
}

export const productsPath = '/api/v2/products'
const one = '/:id(^[0-9]+$)'
/** The approximate bytes of a listed product without its description. */
const lengthOfRest = 500

/** A plugin below productsPath, so that the Cache-Control hook applies to all its routes. */
export async function productRoutes(app: FastifyInstance, deps: ProductRoutesDeps): Promise<void> {
  const { products, lists, changes } = deps
  const { sendCollection, sendSorted, sendMany } = createListSending(lists)
  const mayWrite = (action: 'create' | 'update' | 'delete') => createWriteAccess(deps.writePermission, action)
  // Caches may store products but must revalidate, which the ETag makes cheap.
  app.addHook('onRequest', (_request, reply, next) => {
    reply.header('cache-control', 'no-cache')
    next()
  })

  app.get<{ Querystring: Record<string, unknown> }>(
    '/',
    {
      config: { access: 'public', docs: docs.list },
      onSend: compressResponse,
    },
    async (request, reply) => {
      // Before the rows: whatever changes from here on is read from this cursor.
      reply.header('x-cursor', changes.cursors.issue(await changes.latestOf(productTopic.topic)))
      const q = textOf(request.query.q)
      if (asksForList(request.query)) return sendSorted(request, reply)
      if (q !== undefined) return sendCollection(request, reply, await lists.search(q))
      const category = textOf(request.query.category)
      if (category !== undefined) return sendCollection(request, reply, await lists.byCategory(category))
      const page = pageOf(request.query)
      const listed = await lists.page(page)
      const meta = metaOf(page, listed.total)
      reply.header('link', linksOf(productsPath, meta))
      return sendMany(request, reply, { list: listed, metaOf: () => meta })
    },
  )

  app.get(
    '/changes',
    { config: { access: 'public', docs: docs.changes }, onSend: compressResponse },
    createChangesHandler(app, { changes, topic: productTopic.topic, perAddress: deps.changeReadersPerAddress }),
  )

  app.get(
    one,
    {
      config: { access: 'public', docs: docs.read },
      schema: { response: { 200: OneProduct } },
      onSend: compressResponse,
    },
    async (request, reply) => {
      const product = await products.get(idOf(request))
      if (isUnchanged(request, reply, etagOfProduct(product))) return reply.send()
      return { data: toResource(product) }
    },
  )

  app.post(
    '/',
    {
      config: { access: mayWrite('create'), docs: docs.create },
      schema: { body: NewProduct, response: { 201: OneProduct } },
    },
    async (request, reply) => {
      const input = toInput(request.body)
      const key = textOf(request.headers['idempotency-key'])
      const product =
        key === undefined
          ? await products.create(input, principalOf(request).id)
          : await products.createOnce(input, { userId: principalOf(request).id, key: requireKeyLength(key) })
      return sendOne(reply.code(201).header('location', `${productsPath}/${product.id}`), product)
    },
  )

  app.put(
    one,
    {
      config: { access: mayWrite('update'), docs: docs.update },
      schema: { body: ChangedProduct, response: { 200: OneProduct } },
    },
    async (request, reply) =>
      sendOne(reply, await products.update(idOf(request), toChange(request.body), changing(request))),
  )

  app.delete(one, { config: { access: mayWrite('delete'), docs: docs.delete } }, async (request, reply) => {
    await products.delete(idOf(request), changing(request))
    return reply.code(204).send()
  })
}

function createListSending(lists: ProductLists) {
  async function sendCollection(request: FastifyRequest, reply: FastifyReply, list: ProductList) {
    if (list.isCut) reply.header('x-truncated', 'true')
    return sendMany(request, reply, { list, metaOf: (total) => ({ total }) })
  }

  /** By sort, filters and cursor. `filter[category]` also finds inactive products, which `category` does not. */
  async function sendSorted(request: FastifyRequest<{ Querystring: Record<string, unknown> }>, reply: FastifyReply) {
    if (textOf(request.query.category) !== undefined) {
      throw validationFailed({ category: ['Cannot be combined with sort, filter or cursor'] })
    }
    const query = readListQuery(request.query, productOrders)
    const { page, ...list } = await lists.sorted(query)
    const meta = cursorMetaOf(query, page)
    const links = cursorLinksOf(productsPath, request.query, meta)
    if (links !== undefined) reply.header('link', links)
    return sendMany(request, reply, { list, metaOf: () => meta })
  }

  async function sendMany(
    request: FastifyRequest,
    reply: FastifyReply,
    { list, metaOf }: { list: ProductList; metaOf(sent: number): object },
  ): Promise<FastifyReply> {
    const { keys, isCut } = list
    const etag = await etagOfManyProducts(keys, { ...metaOf(keys.length), isCut })
    if (isUnchanged(request, reply, etag)) return reply.send()
    return sendList(request, reply, {
      items: list.products,
      // Only called for complete products; other lists are streamed.
      toResource: (product) => toResource(product as Product),
      lengthOf: ({ description }) => (description === null ? undefined : description.length + lengthOfRest),
      // Only the ids: keys are many times as large, and a slow client keeps this in memory until the end.
      parts: (reading) =>
        lists.parts(
          Float64Array.from(keys, ({ id }) => id),
          reading,
        ),
      meta: metaOf,
    })
  }

  return { sendCollection, sendSorted, sendMany }
}

function changing(request: FastifyRequest) {
  return { by: principalOf(request).id, isExpected: ifMatch(request) }
}

function sendOne(reply: FastifyReply, product: Product): FastifyReply {
  return reply.header('etag', etagOfProduct(product)).send({ data: toResource(product) })
}

/** Blank counts as absent. The first of several values counts. */
function textOf(given: unknown): string | undefined {
  const [text] = [given].flat()
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}
