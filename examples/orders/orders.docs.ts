import { Id, type RouteDocs, response, type Static, Type } from 'latchkey/feature'
import { OrderResource } from './orders.schema.ts'
import { orderErrors } from './orders.service.ts'

const tag = { name: 'Orders', description: 'What people have bought.' }
const order: Static<typeof OrderResource> = {
  id: 1,
  user_id: 1,
  status: 'placed',
  total: 39.98,
  items: [{ product_id: 1, name: 'Desk Lamp', quantity: 2, unit_price: 19.99 }],
  created_at: '2026-03-02T09:00:00.000Z',
  cancelled_at: null,
}
const Envelope = Type.Object({ data: OrderResource }, { title: 'OrderEnvelope' })
const List = Type.Object(
  {
    data: Type.Array(OrderResource),
    meta: Type.Object({
      total: Type.Integer(),
      page: Type.Integer(),
      per_page: Type.Integer(),
      last_page: Type.Integer(),
    }),
  },
  { title: 'OrderList' },
)

export const docs = {
  place: {
    tag,
    operationId: 'placeOrder',
    summary: 'Place an order',
    description: 'Takes the stock at once, at the prices of this moment.',
    body: { example: { items: [{ product_id: 1, quantity: 2 }] } },
    responses: { 201: response(Envelope, { data: order }) },
    errors: [orderErrors.outOfStock({ 'items.0.quantity': ['Must be at most 1'] })],
  },
  list: {
    tag,
    operationId: 'listOrders',
    summary: 'List orders',
    description: 'Your own, the newest first; those of all where you hold `orders.view`.',
    responses: { 200: response(List, { data: [order], meta: { total: 1, page: 1, per_page: 20, last_page: 1 } }) },
  },
  read: {
    tag,
    operationId: 'getOrder',
    summary: 'Read an order',
    params: { id: Id },
    responses: { 200: response(Envelope, { data: order }) },
  },
  cancel: {
    tag,
    operationId: 'cancelOrder',
    summary: 'Cancel an order',
    description: 'Gives the stock back.',
    params: { id: Id },
    responses: {
      200: response(Envelope, { data: { ...order, status: 'cancelled', cancelled_at: '2026-03-02T10:00:00.000Z' } }),
    },
    errors: [orderErrors.alreadyCancelled()],
  },
} satisfies Record<string, RouteDocs>
