/** Changes that durable listeners have given up, and undeliverable mail: a list, to retry or discard, in the console and over REST. */
import { defineFeature } from '../../platform/feature.ts'
import { createDeadLetters } from './dead-letters.service.ts'

export const deadLetters = defineFeature({
  name: 'dead-letters',
  expiringTables: [{ table: 'dead_letters', key: 'id' }],
  auditEvents: {
    dead_letter_retried: 'Dead letter retried',
    dead_letter_discarded: 'Dead letter discarded',
  },
  create: createDeadLetters,
  routes: (service) => async (app) => {
    const { deadLetterRoutes, deadLettersPath } = await import('./dead-letters.routes.ts')
    await app.register(deadLetterRoutes, { prefix: deadLettersPath, service })
  },
  pages: (service) => ({
    navigation: [
      { path: '/console/dead-letters', name: 'Dead letters', icon: 'page', permission: 'dead_letters.view', order: 37 },
    ],
    notices: {
      'dead-letter-retried': 'Retry requested.',
      'dead-letter-discarded': 'Dead letter discarded.',
      'dead-letters-retried': 'Retry of all dead letters requested.',
      'dead-letters-discarded': 'All dead letters discarded.',
    },
    routes: (kit) => async (app) =>
      (await import('./dead-letters.pages.ts')).addDeadLetterPages(app, { ...kit, service }),
  }),
})
