import type { Policy } from 'latchkey/feature'
import type { Order } from './orders.store.ts'

/** Everybody has their own orders; whoever holds `orders.view` or `orders.cancel` has those of all. */
export const orderPolicy: Policy<Order> = {
  view: (user, order) => user?.id === order.user_id || user?.can('orders.view') === true,
  cancel: (user, order) => user?.id === order.user_id || user?.can('orders.cancel') === true,
}
