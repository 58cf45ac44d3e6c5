/** The business rules of orders, shared by REST, GraphQL, pages and commands. */
import type { products } from 'latchkey'
import {
  AppError,
  type Client,
  httpErrors,
  type Infrastructure,
  type Paging,
  type Principal,
  type ServiceOf,
  validationFailed,
} from 'latchkey/feature'
import { orderCancelled, orderPlaced } from './orders.events.ts'
import type { NewOrderBody } from './orders.schema.ts'
import type { Order, OrderStore } from './orders.store.ts'

export const orderErrors = {
  outOfStock: (details: Record<string, string[]>) => new AppError(409, 'Out of stock', { extra: { details } }),
  alreadyCancelled: () => new AppError(409, 'Order already cancelled'),
}

export const orderPlacedTopic = 'orderPlaced'

export interface OrdersDeps extends Pick<Infrastructure, 'audit' | 'events' | 'announce'> {
  store: OrderStore
  products: ServiceOf<typeof products>
  maxItems: number
}

export interface Actor {
  /** Null for the command line. */
  id: number | null
  client: Client
}

export function createOrders({ store, products, audit, events, announce, maxItems }: OrdersDeps) {
  function requirePossible(items: NewOrderBody['items']): void {
    if (items.length > maxItems) throw validationFailed({ items: [`Must have at most ${maxItems} items`] })
    const seen = new Set<number>()
    const details: Record<string, string[]> = {}
    for (const [i, { product_id }] of items.entries()) {
      if (seen.has(product_id)) details[`items.${i}.product_id`] = ['Is listed before']
      seen.add(product_id)
    }
    if (Object.keys(details).length > 0) throw validationFailed(details)
  }

  /** The missing stock, by item. Empty if it has come back in the meantime. */
  async function explainShortage(items: NewOrderBody['items']): Promise<AppError> {
    const found = await products.stock.find(items.map(({ product_id }) => product_id))
    const byId = new Map(found.map((product) => [product.id, product]))
    const details: Record<string, string[]> = {}
    for (const [i, { product_id, quantity }] of items.entries()) {
      const product = byId.get(product_id)
      if (!product) details[`items.${i}.product_id`] = ['Is no product that can be bought']
      else if (product.stock < quantity) details[`items.${i}.quantity`] = [`Must be at most ${product.stock}`]
    }
    return orderErrors.outOfStock(details)
  }

  async function cancel(order: Order, { id: actorId, client }: Actor): Promise<Order> {
    const entry = audit.entry({
      event: 'order_cancelled',
      outcome: 'success',
      userId: order.user_id,
      actorId,
      changes: { order: { from: `${order.id} placed`, to: 'cancelled' } },
      client,
    })
    const cancelled = await store.cancel(order, entry)
    if (!cancelled) throw orderErrors.alreadyCancelled()
    await events.emit(orderCancelled, cancelled)
    return cancelled
  }

  return {
    find: store.find,
    listStale: store.listStale,
    loadProducts: products.loadFields,
    cancel,

    async get(id: number | undefined): Promise<Order> {
      const order = id === undefined ? undefined : await store.find(id)
      if (!order) throw httpErrors.notFound()
      return order
    },

    async place(user: Principal, { items }: NewOrderBody): Promise<Order> {
      requirePossible(items)
      const wanted = items.map(({ product_id, quantity }) => ({ productId: product_id, quantity }))
      const order = await store.place(user.id, wanted)
      if (!order) throw await explainShortage(items)
      await events.emit(orderPlaced, order)
      await announce(orderPlacedTopic, order)
      return order
    },

    /** The user's own orders, or all with `orders.view`. */
    list: (user: Principal, page: Paging) =>
      user.can('orders.view') ? store.listAll(page) : store.listOwn(user.id, page),
  }
}

export type Orders = ReturnType<typeof createOrders>

/** The order in responses. */
export function toResource({ total_cents, items, ...order }: Order) {
  return {
    ...order,
    total: total_cents / 100,
    items: items.map(({ unit_cents, ...item }) => ({ ...item, unit_price: unit_cents / 100 })),
  }
}
