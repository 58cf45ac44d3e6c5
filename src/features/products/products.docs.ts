import { cursorExpired } from '../../platform/changes/change.ts'
import { changesQuery } from '../../platform/changes/http/changes-query.ts'
import { PageMeta, pageQuery } from '../../platform/http/paging.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { CursorMeta, listQueryDocs } from '../../platform/listing/list-responses.ts'
import { Id, noContent, type RouteDocs, response } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { productOrders } from './product-orders.ts'
import { OneProduct, ProductResource, toResource } from './product-resource.ts'
import { productErrors } from './products.service.ts'

const tag = { name: 'Products', description: 'The catalogue: everybody reads it, whoever is signed in changes it.' }
const params = { id: Id }

const lamp = toResource({
  id: 1,
  name: 'Desk Lamp',
  slug: 'desk-lamp',
  description: 'Bright and warm',
  price_cents: 123_450,
  category: 'home',
  active: true,
  stock: 3,
  version: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})
const Collection = Type.Object(
  {
    data: Type.Array(ProductResource),
    meta: Type.Object({ total: Type.Integer({ description: 'How many items this answer has.' }) }),
  },
  { title: 'ProductCollection' },
)
const cursor = 'v0Yw7wq3mZ1sS2pJ8tQvF5nR6xKcLd9gH4bTeUaWiOyMzXjB'
const ProductChanges = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          cursor: Type.String({
            description: 'Where to go on after this change. Opaque, and another one in each answer.',
          }),
          type: Type.Union([
            Type.Literal('product.created'),
            Type.Literal('product.updated'),
            Type.Literal('product.deleted'),
            Type.Literal('product.restored'),
          ]),
          at: Type.String({ format: 'date-time' }),
          version: Type.Integer({
            description: 'Grows with every change of the product: ignore an entry whose version you already have.',
          }),
          data: ProductResource,
        },
        { title: 'ProductChange' },
      ),
    ),
    meta: Type.Object({
      cursor: Type.String({ description: 'Where to go on.' }),
      more: Type.Boolean({ description: 'There are changes after it already.' }),
    }),
  },
  { title: 'ProductChanges' },
)
const SortedListing = Type.Object({ data: Type.Array(ProductResource), meta: CursorMeta }, { title: 'SortedProducts' })
const Listing = Type.Object({ data: Type.Array(ProductResource), meta: PageMeta }, { title: 'ProductPage' })

const ETag = Type.String({ description: 'Stands for this state of what is answered.' })
const headers = { etag: ETag }
const ifMatch = {
  'if-match': Type.String({ description: 'Only a product with this ETag is changed; 412 otherwise.' }),
}
const ifNoneMatch = {
  'if-none-match': Type.String({ description: 'The ETag of an earlier answer; 304 where nothing has changed.' }),
}
const unchanged = { description: 'What you have is up to date. There is no body.' }
const fields = {
  price: 'Rounded half up to two decimals.',
  category: 'Blank means general.',
}

export const docs = {
  list: {
    tag,
    operationId: 'listProducts',
    summary: 'List or search products',
    description:
      'With `q`, the active products whose name contains it in any case, by name. Otherwise with `category`, the active ' +
      'products of it, by name. Otherwise pages of all products, active or not, by id. With `sort`, `filter[…]` or `cursor`, ' +
      'pages in that order, of what passes all filters, active or not, and with `q` of those whose name contains it: go on ' +
      'from `meta.next` until it is null. A page may have fewer items than `per_page` before that, where many products have ' +
      'to be looked at.',
    query: {
      q: Type.String({ description: 'A part of the name. Can be combined with `sort`, `filter[…]` and `cursor`.' }),
      category: Type.String({ description: 'Of a list without `sort`, `filter[…]` and `cursor`.' }),
      ...pageQuery,
      ...listQueryDocs(productOrders),
    },
    headers: ifNoneMatch,
    responses: {
      200: {
        schema: Type.Union([Listing, Collection, SortedListing]),
        examples: {
          listing: { data: [lamp], meta: { total: 1, page: 1, per_page: 20, last_page: 1 } },
          sorted: { data: [lamp], meta: { total: 1, per_page: 20, next: null, prev: null } },
          collection: { data: [lamp], meta: { total: 1 } },
        },
        headers: {
          ...headers,
          link: Type.String({ description: 'Of a listing: its first, previous, next and last page, by RFC 8288.' }),
          'x-cursor': Type.String({ description: 'Where to go on in the change log, so that nothing is missed.' }),
          'x-truncated': Type.Literal('true', { description: 'Only where a collection has more items than are sent.' }),
        },
      },
      304: unchanged,
    },
    errors: [validationFailed({ sort: ['Must be one of id, name, price'] })],
  },
  read: {
    tag,
    operationId: 'getProduct',
    summary: 'Read a product',
    params,
    headers: ifNoneMatch,
    responses: { 200: response(OneProduct, { data: lamp }, { headers }), 304: unchanged },
    errors: [productErrors.notFound()],
  },
  changes: {
    tag,
    operationId: 'listProductChanges',
    summary: 'Read what has changed',
    description:
      'Every change of a product, in order. Whoever reads from a cursor to the end, and goes on from `meta.cursor`, misses ' +
      'nothing. With `Accept: text/event-stream`, changes are sent as server-sent events, each with its cursor as `id`; ' +
      '`Last-Event-ID` resumes. Where the cursor has expired, list the products again and go on from their `x-cursor`.',
    query: changesQuery,
    headers: { 'last-event-id': Type.String({ description: 'Of an event stream: the cursor from which to go on.' }) },
    responses: {
      200: response(ProductChanges, {
        data: [{ cursor, type: 'product.created', at: '2026-01-01T00:00:00.000Z', version: 1, data: lamp }],
        meta: { cursor, more: false },
      }),
    },
    errors: [validationFailed({ after: ['Must be a cursor'] }), cursorExpired(), tooManyAttempts(5)],
  },
  create: {
    tag,
    operationId: 'createProduct',
    summary: 'Create a product',
    headers: {
      'idempotency-key': Type.String({
        maxLength: 255,
        description:
          'The same key within 24 hours gets the first answer again and creates nothing; with another body it is 422.',
      }),
    },
    body: {
      example: { name: 'Desk Lamp', description: 'Bright and warm', price: 1234.5, category: 'home', stock: 3 },
      fields,
    },
    responses: {
      201: response(
        OneProduct,
        { data: lamp },
        { headers: { ...headers, location: Type.String({ format: 'uri-reference', description: 'Where it is.' }) } },
      ),
    },
  },
  update: {
    tag,
    operationId: 'updateProduct',
    summary: 'Change a product',
    description: 'Changes the fields that are given and not null. A new name makes a new slug.',
    params,
    headers: ifMatch,
    body: { example: { price: 19.99, stock: 5 }, fields },
    responses: { 200: response(OneProduct, { data: lamp }, { headers }) },
    errors: [productErrors.notFound(), productErrors.changed()],
  },
  delete: {
    tag,
    operationId: 'deleteProduct',
    summary: 'Delete a product',
    params,
    headers: ifMatch,
    responses: { 204: noContent },
    errors: [productErrors.notFound(), productErrors.changed()],
  },
} satisfies Record<string, RouteDocs>
