/** The overview of the console: what the service holds and does, in figures. Other features add cards of their own. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { overviewAccess } from './overview.access.ts'

export const overview = defineFeature({
  name: 'overview',
  migrations: join(import.meta.dirname, 'migrations'),

  create: async (infrastructure) => (await import('./overview.create.ts')).createOverviewService(infrastructure),
  start: ({ signIns }, { log }) => signIns.start(log),

  pages: async (service) => ({
    navigation: [
      {
        path: '/console/overview',
        name: 'Overview',
        icon: 'overview',
        key: 'o',
        permission: overviewAccess.permission,
        order: 0,
      },
    ],
    assets: [join(import.meta.dirname, 'assets', 'overview.css')],
    overviewCards: (await import('./pages/overview.cards.ts')).createOverviewCards(service),
    routes: (kit) => async (app) => (await import('./pages/overview.routes.ts')).addOverviewPage(app, kit),
  }),
})
