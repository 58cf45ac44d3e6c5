/** Products: the REST API, GraphQL, the pages of the console, and import and export. */
import { join } from 'node:path'
import { on } from '../../platform/events/events.ts'
import { defineFeature } from '../../platform/feature.ts'
import { productCommands } from './commands/product-commands.ts'
import { addProductPages } from './pages/products.routes.ts'
import { productCreated } from './product.events.ts'
import { createProductChangeElements } from './product-changes.graphql.ts'
import { createProductsService, productKeys } from './products.create.ts'
import { createProductElements } from './products.graphql.ts'
import { productRoutes, productsPath } from './products.routes.ts'

export const products = defineFeature({
  name: 'products',
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['products'],
  expiringTables: [{ table: 'idempotency_keys', key: 'id' }],
  config: productKeys,
  create: createProductsService,

  routes: (service, config) => async (app) => {
    await app.register(productRoutes, { prefix: productsPath, ...service, ...config.products })
  },
  elements: ({ products }, config) => createProductElements({ ...config.products, products }),
  events: [productCreated],
  listeners: ({ announceCreated }) => [on(productCreated, announceCreated)],
  pages: (service) => ({
    navigation: [{ path: '/console/products', name: 'Products', order: 10 }],
    notices: {
      'product-created': 'The product is created.',
      'product-saved': 'The product is saved.',
      'product-restored': 'The product is back.',
    },
    routes: (kit) => (app) => addProductPages(app, { ...kit, ...service }),
    liveElements: createProductChangeElements(),
  }),
  commands: productCommands,
})
