/** Products by GraphQL: the services and rules of the REST API, its field names in camel case. */
import { readWithin } from '../../platform/graphql/answer-size.ts'
import { type Context, inputType, mutation, objectType, query, subscription } from '../../platform/graphql/elements.ts'
import { parseId } from '../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../platform/http/paging.ts'
import { compileBody, requireValid } from '../../platform/http/validation.ts'
import { type Product, toResource } from './product.ts'
import { createWriteAccess } from './products.access.ts'
import {
  ChangedProduct,
  type ChangedProductBody,
  NewProduct,
  type NewProductBody,
  toChange,
  toInput,
} from './products.schema.ts'
import type { Collection, Products } from './products.service.ts'

export interface ProductElementsDeps {
  products: Products
  writePermission: string | undefined
  collectionLimit: number
}

export const productCreatedTopic = 'productCreated'

interface ListArgs {
  q?: string | null
  category?: string | null
  page?: number | null
  perPage?: number | null
}

/** The most that a collection holds, for counting costs, where the configuration sets no limit. */
const manyProducts = 100_000

export function createProductElements(deps: ProductElementsDeps) {
  const validateNew = compileBody(NewProduct)
  const validateChange = compileBody(ChangedProduct)
  const access = createWriteAccess(deps.writePermission)

  async function list({ q, category, page, perPage }: ListArgs, context: Context) {
    if (isGiven(q)) return toCollection(context, () => deps.products.search(q))
    if (isGiven(category)) return toCollection(context, () => deps.products.byCategory(category))
    const asked = pageOf({ page: textOf(page), per_page: textOf(perPage) })
    let total = 0
    const products = await readWithin(context, sizeOf, async () => {
      const listed = await deps.products.list(asked)
      total = listed.total
      return listed.products
    })
    const meta = metaOf(asked, total)
    return {
      data: products.map(toFields),
      meta: { total, page: meta.page, perPage: meta.per_page, lastPage: meta.last_page, truncated: false },
    }
  }

  return [
    objectType({
      name: 'Product',
      fields: {
        id: 'ID!',
        name: 'String!',
        slug: 'String!',
        description: 'String!',
        price: 'Float!',
        formattedPrice: 'String!',
        category: 'String!',
        stock: 'Int!',
        inStock: 'Boolean!',
        active: 'Boolean!',
        createdAt: { type: 'String!', description: 'ISO 8601, in UTC.' },
        updatedAt: { type: 'String!', description: 'ISO 8601, in UTC.' },
      },
    }),
    objectType({
      name: 'ProductList',
      fields: { data: '[Product!]!', meta: 'ProductListMeta!' },
    }),
    objectType({
      name: 'ProductListMeta',
      fields: {
        total: { type: 'Int!', description: 'Of all pages; of a search or a category, the number of items returned.' },
        page: { type: 'Int', description: 'Null where the list has no pages: a search or a category.' },
        perPage: 'Int',
        lastPage: 'Int',
        truncated: { type: 'Boolean!', description: 'There are more than are returned at most.' },
      },
    }),
    inputType({
      name: 'CreateProductInput',
      description: 'The rules are those of the REST API: name, description and price must not be blank.',
      fields: { name: 'String', description: 'String', price: 'Float', category: 'String', stock: 'Int' },
    }),
    inputType({
      name: 'UpdateProductInput',
      description: 'Only what is given and not null is changed.',
      fields: {
        name: 'String',
        description: 'String',
        price: 'Float',
        category: 'String',
        stock: 'Int',
        active: 'Boolean',
      },
    }),

    query<ListArgs>({
      name: 'products',
      description: 'By a part of the name, by category, or all of them by page; the first that is given counts.',
      type: 'ProductList',
      args: { q: 'String', category: 'String', page: 'Int', perPage: 'Int' },
      access: 'public',
      size({ q, category, page, perPage }) {
        if (isGiven(q) || isGiven(category)) return deps.collectionLimit === 0 ? manyProducts : deps.collectionLimit
        return pageOf({ page: textOf(page), per_page: textOf(perPage) }).perPage
      },
      resolve: list,
    }),

    query<{ id: string }>({
      name: 'product',
      type: 'Product',
      args: { id: 'ID!' },
      access: 'public',
      resolve: async ({ id }) => toFields(await deps.products.get(parseId(id))),
    }),

    mutation<{ input: object }>({
      name: 'createProduct',
      type: 'Product',
      args: { input: 'CreateProductInput!' },
      access,
      resolve: async ({ input }) =>
        toFields(await deps.products.create(toInput(requireValid<NewProductBody>(validateNew, input)))),
    }),

    mutation<{ id: string; input: object }>({
      name: 'updateProduct',
      type: 'Product',
      args: { id: 'ID!', input: 'UpdateProductInput!' },
      access,
      resolve: async ({ id, input }) =>
        toFields(
          await deps.products.update(parseId(id), toChange(requireValid<ChangedProductBody>(validateChange, input))),
        ),
    }),

    mutation<{ id: string }>({
      name: 'deleteProduct',
      type: 'Boolean',
      args: { id: 'ID!' },
      access,
      async resolve({ id }) {
        await deps.products.delete(parseId(id))
        return true
      },
    }),

    subscription({
      name: 'productCreated',
      description: 'Each product that is created, here or over REST.',
      type: 'Product!',
      access: 'public',
      async *subscribe(_args, { values }) {
        for await (const product of values<Product>(productCreatedTopic)) yield toFields(product)
      },
    }),
  ]
}

async function toCollection(context: Context, read: () => Promise<Collection>) {
  let truncated = false
  const products = await readWithin(context, sizeOf, async () => {
    const found = await read()
    truncated = found.isCut
    return found.products
  })
  return { data: products.map(toFields), meta: { total: products.length, truncated } }
}

function sizeOf({ name, description }: Product): number {
  return name.length + description.length
}

/** A product's fields by their names in the schema. */
function toFields(product: Product) {
  const { id, attributes } = toResource(product)
  const { formatted_price, in_stock, created_at, updated_at, ...rest } = attributes
  return {
    id,
    ...rest,
    formattedPrice: formatted_price,
    inStock: in_stock,
    createdAt: created_at,
    updatedAt: updated_at,
  }
}

/** As in a query string: blank counts as absent. */
function isGiven(text: string | null | undefined): text is string {
  return typeof text === 'string' && text.trim() !== ''
}

function textOf(number: number | null | undefined): string | undefined {
  return number === null || number === undefined ? undefined : String(number)
}
