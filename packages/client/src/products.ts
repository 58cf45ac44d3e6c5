import { type Api, requireAnswer, type Schemas } from './api.ts'
import type { operations } from './openapi.ts'
import { randomKey } from './waiting.ts'

export type Product = Schemas['Product']
export type NewProduct = Schemas['CreateProductBody']
export type ProductChanges = Schemas['UpdateProductBody']
export type ProductQuery = NonNullable<operations['listProducts']['parameters']['query']>

/** With the ETag of what was answered, for `ifMatch`. */
export type ReadProduct = Product & { etag: string | undefined }

/** A search or a category has only `total`. With `sort`, filters or a cursor there are `next` and `prev` instead of pages. */
export interface ProductListMeta {
  /** Null if counting would take long. */
  total: number | null
  page?: number
  per_page?: number
  last_page?: number
  /** The `cursor` of the next list; null at the end. */
  next?: string | null
  prev?: string | null
}

export interface ProductList {
  data: Product[]
  meta: ProductListMeta
  /** Where `changes()` goes on, so that nothing is missed. */
  cursor: string
  /** The service has left out the rest of a long search. */
  isTruncated: boolean
}

export interface MatchOptions {
  /** The ETag of the product as it was read. If it has changed since, an error with status 412 is thrown. */
  ifMatch?: string
}

export function createProducts({ api }: { api: Api }) {
  const matching = ({ ifMatch }: MatchOptions) => (ifMatch === undefined ? {} : { 'if-match': ifMatch })

  return {
    async list(query: ProductQuery = {}): Promise<ProductList> {
      const { data: page, headers } = await requireAnswer(api.GET('/api/v2/products', { params: { query } }))
      const cursor = headers.get('x-cursor') ?? ''
      return { data: page.data, meta: page.meta, cursor, isTruncated: headers.has('x-truncated') }
    },

    get: async (id: number) =>
      read(await requireAnswer(api.GET('/api/v2/products/{id}', { params: { path: { id } } }))),

    /** Sent again if the answer is lost; with the same key, the service creates one product. */
    async create(body: NewProduct, { idempotencyKey = randomKey() } = {}): Promise<ReadProduct> {
      const header = { 'idempotency-key': idempotencyKey }
      return read(await requireAnswer(api.POST('/api/v2/products', { params: { header }, body })))
    },

    async update(id: number, body: ProductChanges, options: MatchOptions = {}): Promise<ReadProduct> {
      const params = { path: { id }, header: matching(options) }
      return read(await requireAnswer(api.PUT('/api/v2/products/{id}', { params, body })))
    },

    async delete(id: number, options: MatchOptions = {}): Promise<void> {
      const params = { path: { id }, header: matching(options) }
      await requireAnswer(api.DELETE('/api/v2/products/{id}', { params }))
    },
  }
}

export type Products = ReturnType<typeof createProducts>

function read({ data: { data }, headers }: { data: { data: Product }; headers: Headers }): ReadProduct {
  return { ...data, etag: headers.get('etag') ?? undefined }
}
