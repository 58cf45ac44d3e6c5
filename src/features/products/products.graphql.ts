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
import { type Products, requireKeyLength } from './products.service.ts'

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
  const mayWrite = (action: 'create' | 'update' | 'delete') => createWriteAccess(writePermission, action)
  return [
    mutation<{ input: object; idempotencyKey?: string | null }>({
      name: 'createProduct',
      description: 'A repeated request with the same `idempotencyKey` returns the same product and creates no other.',
      type: 'Product',
      args: {
        input: 'CreateProductInput!',
        idempotencyKey: {
          type: 'String',
          description: 'As the header `Idempotency-Key` of the REST API, with which it shares keys. Kept for 24 hours.',
        },
      },
      access: mayWrite('create'),
      async resolve({ input, idempotencyKey }, context, { selection }) {
        const given = toInput(requireValid(validateNew, input))
        await count(context, selection(), given)
        const userId = actorOf(context)
        // Blank counts as absent, as in the header. Surrounding white space is not part of a header's value.
        const key = idempotencyKey?.trim()
        if (!key || userId === null) return toFields(await products.create(given, userId))
        return toFields(await products.createOnce(given, { userId, key: requireKeyLength(key) }))
      },
    }),

    mutation<{ id: string; input: object }>({
      name: 'updateProduct',
      type: 'Product',
      args: { id: 'ID!', input: 'UpdateProductInput!' },
      access: mayWrite('update'),
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
      access: mayWrite('delete'),
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
