import { compileBody, type Principal, parseId, requireValid } from 'latchkey/feature'
import { type Context, inputType, mutation, objectType, query, subscription } from 'latchkey/graphql'
import { NewOrder } from './orders.schema.ts'
import { type Orders, orderPlacedTopic } from './orders.service.ts'
import type { Order, OrderItem } from './orders.store.ts'

const perPage = 20

export function createOrderElements(orders: Orders) {
  const validate = compileBody(NewOrder)
  const find = async ({ id }: { id: string }) => {
    const number = parseId(id)
    return number === undefined ? undefined : orders.find(number)
  }
  const userOf = ({ principal }: Context) => principal as Principal

  return [
    objectType<Order>({
      name: 'Order',
      fields: {
        id: 'ID!',
        status: { type: 'String!', description: 'placed or cancelled' },
        total: { type: 'Float!', description: 'In dollars.', resolve: ({ total_cents }) => total_cents / 100 },
        items: '[OrderItem!]!',
        createdAt: { type: 'String!', resolve: ({ created_at }) => created_at },
        cancelledAt: { type: 'String', resolve: ({ cancelled_at }) => cancelled_at },
      },
    }),
    objectType<OrderItem>({
      name: 'OrderItem',
      fields: {
        name: { type: 'String!', description: 'As it was called then.' },
        quantity: 'Int!',
        unitPrice: { type: 'Float!', resolve: ({ unit_cents }) => unit_cents / 100 },
        product: {
          type: 'Product',
          description: 'As it is now; null where it is gone.',
          // Called once for all items of the response.
          load: (items) => orders.loadProducts(items.map(({ product_id }) => product_id)),
        },
      },
    }),
    inputType({ name: 'OrderItemInput', fields: { productId: 'ID!', quantity: 'Int!' } }),

    query<{ page: number }>({
      name: 'orders',
      description: 'Your own, the newest first; those of all where you hold orders.view.',
      type: '[Order!]',
      args: { page: { type: 'Int', default: 1 } },
      access: ['authenticated', { keyPermission: 'orders.read' }],
      size: () => perPage,
      resolve: async ({ page }, context) =>
        (await orders.list(userOf(context), { page: Math.max(page, 1), perPage })).orders,
    }),

    query<{ id: string }>({
      name: 'order',
      type: 'Order',
      args: { id: 'ID!' },
      access: ['authenticated', { policy: 'orders', action: 'view', entity: find }],
      resolve: (_args, _context, { entity }) => entity,
    }),

    mutation<{ items: { productId: string; quantity: number }[] }>({
      name: 'placeOrder',
      type: 'Order',
      args: { items: '[OrderItemInput!]!' },
      access: ['authenticated', { keyPermission: 'orders.create' }],
      resolve({ items }, context) {
        const body = { items: items.map(({ productId, quantity }) => ({ product_id: Number(productId), quantity })) }
        return orders.place(userOf(context), requireValid(validate, body))
      },
    }),

    mutation<{ id: string }>({
      name: 'cancelOrder',
      type: 'Order',
      args: { id: 'ID!' },
      access: ['authenticated', { policy: 'orders', action: 'cancel', entity: find }],
      resolve: (_args, context, { entity }) =>
        orders.cancel(entity as Order, { id: userOf(context).id, client: context.client }),
    }),

    subscription({
      name: 'orderPlaced',
      description: 'Every order, as it is placed. For those who hold orders.view.',
      type: 'Order!',
      access: { permission: 'orders.view' },
      isShared: true,
      subscribe: (_args, { values }) => values<Order>(orderPlacedTopic),
    }),

    subscription({
      name: 'ownOrderPlaced',
      description: 'Each order of your own, as it is placed, on whatever device.',
      type: 'Order!',
      access: ['authenticated', { keyPermission: 'orders.read' }],
      async *subscribe(_args, { principal, values }) {
        for await (const order of values<Order>(orderPlacedTopic)) if (order.user_id === principal?.id) yield order
      },
    }),
  ]
}
