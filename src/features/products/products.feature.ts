/** Products: REST, GraphQL, console pages, import and export. */
import { join } from 'node:path'
import { on } from '../../platform/events/events.ts'
import { defineFeature } from '../../platform/feature.ts'
import { namedPlugin } from '../../platform/http/named-plugin.ts'
import { productCommands } from './commands/product-commands.ts'
import { productCreated } from './product.events.ts'
import { productKeys } from './products.keys.ts'

export const products = defineFeature({
  name: 'products',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['products'],
  expiringTables: [{ table: 'idempotency_keys', key: 'id' }],
  config: productKeys,
  create: async (infrastructure) => (await import('./products.create.ts')).createProductsService(infrastructure),

  routes: (service, config) => async (app) => {
    const { productRoutes, productsPath } = await import('./products.routes.ts')
    await app.register(namedPlugin('products', productRoutes), { prefix: productsPath, ...service, ...config.products })
  },
  elements: async ({ products, changes }, config) =>
    (await import('./products.graphql.ts')).createProductElements({ ...config.products, products, changes }),
  events: [productCreated],
  changes: ({ topic }) => topic,
  listeners: ({ announceCreated }) => [on(productCreated, announceCreated)],
  pages: async (service) => ({
    navigation: [{ path: '/console/products', name: 'Products', order: 10 }],
    notices: {
      'product-created': 'The product is created.',
      'product-saved': 'The product is saved.',
      'product-restored': 'The product is back.',
    },
    routes: (kit) => async (app) =>
      (await import('./pages/products.routes.ts')).addProductPages(app, { ...kit, ...service }),
    liveElements: (await import('./product-changes.graphql.ts')).createProductChangeElements(),
  }),
  commands: productCommands,
})
