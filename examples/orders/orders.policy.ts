import type { Policy } from 'latchkey/feature'
import type { Order } from './orders.store.ts'

/** Users have access to their own orders, and with `orders.view` or `orders.cancel` to all. */
export const orderPolicy: Policy<Order> = {
  view: (user, order) => user?.id === order.user_id || user?.can('orders.view') === true,
  cancel: (user, order) => user?.id === order.user_id || user?.can('orders.cancel') === true,
}
