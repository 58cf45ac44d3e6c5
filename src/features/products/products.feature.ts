/** Products: REST, GraphQL, console pages, import and export. */
import { join } from 'node:path'
import { on } from '../../platform/events/events.ts'
import { defineFeature } from '../../platform/feature.ts'
import { namedPlugin } from '../../platform/http/named-plugin.ts'
import { users } from '../users/users.feature.ts'
import { productCommands } from './commands/product-commands.ts'
import { productCreated } from './product.events.ts'
import { productKeys } from './products.keys.ts'

export const products = defineFeature({
  name: 'products',
  needs: { users },
  migrations: join(import.meta.dirname, 'migrations'),
  countedLists: ['products'],
  expiringTables: [{ table: 'idempotency_keys', key: 'id' }],
  config: productKeys,
  create: async (infrastructure, needs) =>
    (await import('./products.create.ts')).createProductsService(infrastructure, needs),

  async start({ isRegistrationOpen }, { config, log }) {
    if (config.environment === 'production' && isRegistrationOpen && config.products.writePermission === undefined) {
      log.warn('anybody can register, and every signed-in user may change products: set products.write_permission')
    }
    return { close: async () => {} }
  },
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
    navigation: [{ path: '/console/products', name: 'Products', icon: 'products', key: 'p', order: 10 }],
    actions: [
      { path: '/console/products/new', name: 'New product', may: service.forms.mayWrite },
      { path: '/console/products/import', name: 'Import products', may: service.forms.mayWrite },
    ],
    finders: [(await import('./pages/product-finder.ts')).createProductFinder(service)],
    assets: [join(import.meta.dirname, 'assets', 'products.css')],
    notices: {
      'product-created': 'The product is created.',
      'product-saved': 'The product is saved.',
      'product-restored': 'The product is back.',
      ...(await import('./pages/bulk-notices.ts')).bulkNotices,
    },
    keyCards: [(await import('./pages/key-card.ts')).createKeyCard(service)],
    overviewCards: (await import('./pages/overview.cards.ts')).createProductCards(service),
    routes: (kit) => async (app) =>
      (await import('./pages/products.routes.ts')).addProductPages(app, { ...kit, ...service }),
    liveElements: (await import('./pages/live-list.graphql.ts')).createLiveListElements(service.changes),
  }),
  commands: productCommands,
})
