/** Products in GraphQL, with the services and rules of the REST API, and its field names in camel case. */

import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { readWithin } from '../../platform/graphql/execution/response-budget.ts'
import { type Context, type Element, mutation, query, subscription } from '../../platform/graphql/schema/elements.ts'
import type { Selection } from '../../platform/graphql/schema/selection.ts'
import { parseId } from '../../platform/http/ids.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import { productCreatedTopic } from './product.events.ts'
import type { Product } from './product.ts'
import { toFields } from './product-fields.ts'
import { type ListArgs, listProducts, sizeOfList } from './product-list.graphql.ts'
import { createProductLogElements } from './product-log.graphql.ts'
import { createProductTypes } from './product-types.graphql.ts'
import { createWriteAccess } from './products.access.ts'
import { ChangedProduct, NewProduct, toChange, toInput } from './products.schema.ts'
import type { Products } from './products.service.ts'

export interface ProductElementsDeps {
  products: Products
  changes: ChangeLog
  writePermission: string | undefined
  collectionLimit: number
}

export function createProductElements(deps: ProductElementsDeps): Element[] {
  return [
    ...createProductTypes(),
    ...createQueries(deps),
    ...createMutations(deps),

    subscription({
      name: 'productCreated',
      description: 'Each product that is created, here or over REST.',
      type: 'Product!',
      access: 'public',
      async *subscribe(_args, { values }) {
        for await (const product of values<Product>(productCreatedTopic)) yield toFields(product)
      },
    }),
    ...createProductLogElements(deps.changes),
  ]
}

function createQueries({ products, collectionLimit }: ProductElementsDeps): Element[] {
  return [
    query<ListArgs>({
      name: 'products',
      description: 'By a part of the name, by category, or all of them by page; the first that is given counts.',
      type: 'ProductList',
      args: { q: 'String', category: 'String', page: 'Int', perPage: 'Int' },
      access: 'public',
      size: (args) => sizeOfList(args, collectionLimit),
      resolve: (args, context, { selection }) => listProducts(args, { products, context, selection: selection() }),
    }),

    query<{ id: string }>({
      name: 'product',
      type: 'Product',
      args: { id: 'ID!' },
      access: 'public',
      async resolve({ id }, context, { selection }) {
        const product = await products.get(parseId(id))
        await count(context, selection(), product)
        return toFields(product)
      },
    }),
  ]
}

function createMutations({ products, writePermission }: ProductElementsDeps): Element[] {
  const validateNew = compileBody(NewProduct)
  const validateChange = compileBody(ChangedProduct)
  const access = createWriteAccess(writePermission)
  return [
    mutation<{ input: object }>({
      name: 'createProduct',
      type: 'Product',
      args: { input: 'CreateProductInput!' },
      access,
      async resolve({ input }, context, { selection }) {
        const given = toInput(requireValid(validateNew, input))
        await count(context, selection(), given)
        return toFields(await products.create(given, actorOf(context)))
      },
    }),

    mutation<{ id: string; input: object }>({
      name: 'updateProduct',
      type: 'Product',
      args: { id: 'ID!', input: 'UpdateProductInput!' },
      access,
      async resolve({ id, input }, context, { selection }) {
        const change = toChange(requireValid(validateChange, input))
        await count(context, selection(), change)
        return toFields(await products.update(parseId(id), change, { by: actorOf(context) }))
      },
    }),

    mutation<{ id: string }>({
      name: 'deleteProduct',
      type: 'Boolean',
      args: { id: 'ID!' },
      access,
      async resolve({ id }, context) {
        await products.delete(parseId(id), { by: actorOf(context) })
        return true
      },
    }),
  ]
}

const actorOf = ({ principal }: Context) => principal?.id ?? null

/** Counts against the response budget. Before a write, because once it is stored the response must not fail. */
async function count(context: Context, selection: Selection, given: object): Promise<void> {
  await readWithin({ context, selection, read: async () => [given] })
}
