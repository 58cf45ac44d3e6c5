/** Orders of products: an extension of Latchkey. To load it, add this file to `extensions` in the configuration. */
import { join } from 'node:path'
import { products, users } from 'latchkey'
import { defineFeature, integer, key } from 'latchkey/feature'
import { orderCommands } from './orders.commands.ts'
import { orderCancelled, orderPlaced } from './orders.events.ts'
import { createOrderElements } from './orders.graphql.ts'
import { addOrderPages } from './orders.pages.ts'
import { orderPolicy } from './orders.policy.ts'
import { orderRoutes } from './orders.routes.ts'
import { createOrders } from './orders.service.ts'
import { createOrderStore } from './orders.store.ts'

export default defineFeature({
  name: 'orders',
  needs: { users, products },
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['orders'],
  auditEvents: { order_cancelled: 'Order cancelled' },
  config: {
    orders: {
      maxItems: key('orders.max_items', integer({ min: 1, max: 1000 }), 50, 'ORDERS_MAX_ITEMS'),
    },
  },

  create: ({ config, db, clock, counts, audit, events, announce }, { products }) =>
    createOrders({
      store: createOrderStore({ db, clock, counts, stock: products.stock }),
      products,
      audit,
      events,
      announce,
      maxItems: config.orders.maxItems,
    }),

  policies: { orders: orderPolicy },
  routes: (orders) => (app) => void app.register(orderRoutes, { prefix: '/api/orders', orders }),
  elements: (orders) => createOrderElements(orders),
  events: [orderPlaced, orderCancelled],
  pages: (orders) => ({
    navigation: [{ path: '/console/orders', name: 'Orders', order: 15 }],
    notices: { 'order-cancelled': 'The order is cancelled, and its stock is back.' },
    routes: (kit) => (app) => addOrderPages(app, { ...kit, orders }),
  }),
  commands: orderCommands,
})
