/** Products by GraphQL: the services and rules of the REST API, its field names in camel case. */

import { answerTooLarge, makeWay, readWithin } from '../../platform/graphql/execution/response-budget.ts'
import {
  type Context,
  inputType,
  mutation,
  objectType,
  query,
  subscription,
} from '../../platform/graphql/schema/elements.ts'
import type { Selection } from '../../platform/graphql/schema/selection.ts'
import { parseId } from '../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../platform/http/paging.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
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
import type { Products } from './products.service.ts'

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

/**
 * What a search or a category counts as beforehand. How many it finds is not known then: what is answered is limited as
 * it is read, so that whatever REST can be asked for can be asked for here.
 */
const assumedProducts = 1000

export function createProductElements(deps: ProductElementsDeps) {
  const validateNew = compileBody(NewProduct)
  const validateChange = compileBody(ChangedProduct)
  const access = createWriteAccess(deps.writePermission)

  async function list({ q, category, page, perPage }: ListArgs, context: Context, selection: Selection) {
    const wanted = selection.fields.get('data')?.selection
    if (isGiven(q)) return collect({ q, category: undefined })
    if (isGiven(category)) return collect({ q: undefined, category })
    const asked = pageOf({ page: textOf(page), per_page: textOf(perPage) })
    let total = 0
    const data = await read(async () => {
      const listed = await deps.products.listBrief(asked)
      total = listed.total
      return listed.products
    })
    const meta = metaOf(asked, total)
    return {
      data,
      meta: { total, page: meta.page, perPage: meta.per_page, lastPage: meta.last_page, truncated: false },
    }

    async function collect(sought: { q: string | undefined; category: string | undefined }) {
      let truncated = false
      const data = await read(async (objects) => {
        const { products, isCut } = await deps.products.collectBrief(sought, objects)
        truncated = isCut
        return products
      })
      return { data, meta: { total: data.length, truncated } }
    }

    /** Their descriptions are read by themselves, where they are asked for. */
    function read(find: (objects: number) => Promise<readonly Product[]>) {
      return readWithin({
        context,
        selection: wanted,
        async read({ objects, characters }) {
          const products = await find(objects)
          const times = wanted?.fields.get('description')?.names.length ?? 0
          if (times === 0) return products.map(toFields)
          const ids = products.map(({ id }) => id)
          const bytes = await deps.products.measureDescriptions(ids)
          if (bytes * times > characters) throw answerTooLarge()
          await makeWay({ context, characters: bytes * times })
          const descriptions = await deps.products.readDescriptions(ids)
          return products.map((each) => toFields({ ...each, description: descriptions.get(each.id) ?? '' }))
        },
      })
    }
  }

  /** What is written is counted before: once it is stored, nothing may keep it from being answered. */
  async function count(context: Context, selection: Selection, given: object): Promise<void> {
    await readWithin({ context, selection, read: async () => [given] })
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
      checksNumbers: true,
      fields: { name: 'String', description: 'String', price: 'Float', category: 'String', stock: 'Int' },
    }),
    inputType({
      name: 'UpdateProductInput',
      description: 'Only what is given and not null is changed.',
      checksNumbers: true,
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
        if (isGiven(q) || isGiven(category)) {
          return deps.collectionLimit === 0 ? assumedProducts : Math.min(deps.collectionLimit, assumedProducts)
        }
        return pageOf({ page: textOf(page), per_page: textOf(perPage) }).perPage
      },
      resolve: (args, context, { selection }) => list(args, context, selection()),
    }),

    query<{ id: string }>({
      name: 'product',
      type: 'Product',
      args: { id: 'ID!' },
      access: 'public',
      async resolve({ id }, context, { selection }) {
        const product = await deps.products.get(parseId(id))
        await count(context, selection(), product)
        return toFields(product)
      },
    }),

    mutation<{ input: object }>({
      name: 'createProduct',
      type: 'Product',
      args: { input: 'CreateProductInput!' },
      access,
      async resolve({ input }, context, { selection }) {
        const given = toInput(requireValid<NewProductBody>(validateNew, input))
        await count(context, selection(), given)
        return toFields(await deps.products.create(given))
      },
    }),

    mutation<{ id: string; input: object }>({
      name: 'updateProduct',
      type: 'Product',
      args: { id: 'ID!', input: 'UpdateProductInput!' },
      access,
      async resolve({ id, input }, context, { selection }) {
        const change = toChange(requireValid<ChangedProductBody>(validateChange, input))
        await count(context, selection(), change)
        return toFields(await deps.products.update(parseId(id), change))
      },
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

/** A product's fields by their names in the schema. */
export function toFields(product: Product) {
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
