import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { createChangesHandler } from '../../platform/changes/http/changes-handler.ts'
import { compressResponse } from '../../platform/http/compression.ts'
import { ifMatch, isUnchanged } from '../../platform/http/conditional-requests.ts'
import { idOf } from '../../platform/http/ids.ts'
import { bodyOfShortList, type ListOptions, sendList } from '../../platform/http/long-lists.ts'
import { linksOf, metaOf, pageOf } from '../../platform/http/paging.ts'
import type { Kept, SharedResponses } from '../../platform/http/shared-responses.ts'
import type { ConnectionsPerAddress } from '../../platform/limiter/connections-per-address.ts'
import { asksForList, readListQuery } from '../../platform/listing/list-query.ts'
import { cursorLinksOf, cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { etagOfManyProducts, etagOfProduct, type ListedProduct, type Product } from './product.ts'
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
  responses: SharedResponses
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
  const { products, lists, changes, responses } = deps
  const { read, send } = createListSending(lists)
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
      const { topic } = productTopic
      // Before the rows: whatever changes from here on is read from this cursor.
      const { position, state } = responses.isKnown(request.url)
        ? await changes.stateOf(topic, 'products')
        : { position: await changes.latestOf(topic) }
      reply.header('x-cursor', changes.cursors.issue(position))
      if (state === undefined) return send(request, reply, await read(request.query))
      return send(request, reply, await responses.find(request.url, state, async () => keep(await read(request.query))))
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

/** A list as it is sent. */
interface ListResponse {
  etag: string
  headers: Readonly<Record<string, string>>
  content: ListOptions<ListedProduct> | { body: string }
}

function createListSending(lists: ProductLists) {
  async function read(query: Readonly<Record<string, unknown>>): Promise<ListResponse> {
    if (asksForList(query)) return readSorted(query)
    const q = textOf(query.q)
    if (q !== undefined) return readCollection(await lists.search(q))
    const category = textOf(query.category)
    if (category !== undefined) return readCollection(await lists.byCategory(category))
    const page = pageOf(query)
    const listed = await lists.page(page)
    const meta = metaOf(page, listed.total)
    return toResponse(listed, () => meta, { link: linksOf(productsPath, meta) })
  }

  function readCollection(list: ProductList): Promise<ListResponse> {
    return toResponse(list, (total) => ({ total }), list.isCut ? { 'x-truncated': 'true' } : {})
  }

  /** By sort, filters and cursor. `filter[category]` also finds inactive products, which `category` does not. */
  async function readSorted(given: Readonly<Record<string, unknown>>): Promise<ListResponse> {
    if (textOf(given.category) !== undefined) {
      throw validationFailed({ category: ['Cannot be combined with sort, filter or cursor'] })
    }
    const query = readListQuery(given, productOrders)
    const { page, ...list } = await lists.sorted(query)
    const meta = cursorMetaOf(query, page)
    const link = cursorLinksOf(productsPath, given, meta)
    return toResponse(list, () => meta, link === undefined ? {} : { link })
  }

  async function toResponse(
    { keys, products, isCut }: ProductList,
    meta: (sent: number) => object,
    headers: Readonly<Record<string, string>>,
  ): Promise<ListResponse> {
    return {
      etag: await etagOfManyProducts(keys, { ...meta(keys.length), isCut }),
      headers,
      content: {
        items: products,
        // Only called for complete products; other lists are streamed.
        toResource: (product) => toResource(product as Product),
        lengthOf: ({ description }) => (description === null ? undefined : description.length + lengthOfRest),
        // Only the ids: keys are many times as large, and a slow client keeps this in memory until the end.
        parts: (reading) =>
          lists.parts(
            Float64Array.from(keys, ({ id }) => id),
            reading,
          ),
        meta,
      },
    }
  }

  function send(request: FastifyRequest, reply: FastifyReply, { etag, headers, content }: ListResponse) {
    reply.headers(headers)
    if (isUnchanged(request, reply, etag)) return reply.send()
    if ('body' in content) return reply.type('application/json; charset=utf-8').send(content.body)
    return sendList(request, reply, content)
  }

  return { read, send }
}

/** With its body, if that is short. */
function keep(response: ListResponse): ListResponse & Kept {
  const body = 'body' in response.content ? response.content.body : bodyOfShortList(response.content)
  if (body === undefined) return { ...response, bytes: undefined }
  const { link = '' } = response.headers
  // Two for each character, where one is beyond Latin.
  return { ...response, content: { body }, bytes: 2 * (body.length + link.length) }
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
