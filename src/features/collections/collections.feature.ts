/** What all collections share: their GraphQL types, writes of several collections at once, and the page that documents them. */
import { registryOf } from '../../collections/registry.ts'
import { defineFeature } from '../../platform/feature.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'

function createCollectionsService(infrastructure: Infrastructure) {
  const { db, changes, config } = infrastructure
  return { registry: registryOf(infrastructure), db, changes, config }
}

const path = '/console/collections'

export const collections = defineFeature({
  name: 'collections',
  create: createCollectionsService,
  routes: (service) => async (app) => {
    if (service.registry.size > 0) (await import('./batch.routes.ts')).addBatchRoutes(app, service)
  },
  elements: async ({ registry }) =>
    registry.size === 0 ? [] : (await import('../../collections/graphql/elements.ts')).createSharedElements(),
  pages: ({ registry, db, config }) => ({
    navigation:
      registry.size === 0 && !config.isDevelopment
        ? []
        : [{ path, name: 'Collections', icon: 'page', permission: 'collections.view', order: 39 }],
    routes: (kit) => async (app) => {
      const { addCollectionsPages } = await import('./collections.pages.ts')
      addCollectionsPages(app, { ...kit, registry, db, config, path })
    },
  }),
})
