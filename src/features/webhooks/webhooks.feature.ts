/** Webhooks: endpoints that are told what is committed, signed by the Standard Webhooks specification. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { users } from '../users/users.feature.ts'
import { accountTopic } from './account-events.ts'
import { webhookKeys } from './webhooks.keys.ts'

export const webhooks = defineFeature({
  name: 'webhooks',
  needs: { users },
  migrations: join(import.meta.dirname, 'migrations'),
  expiringTables: [{ table: 'webhook_deliveries', key: 'id' }],
  auditEvents: {
    webhook_created: 'Webhook made',
    webhook_changed: 'Webhook changed',
    webhook_deleted: 'Webhook deleted',
    webhook_secret_replaced: 'Webhook secret replaced',
    webhook_switched_off: 'Webhook switched off after failing for three days',
  },
  config: webhookKeys,
  create: async (infrastructure, needs) =>
    (await import('./webhooks.create.ts')).createWebhooksService(infrastructure, needs),
  start: (service) => service.startDelivering(),
  changes: () => accountTopic,

  routes: (service) => async (app) => {
    const { webhookRoutes, webhooksPath } = await import('./webhooks.routes.ts')
    await app.register(webhookRoutes, { prefix: webhooksPath, ...service })
  },
  pages: async (service) => (await import('./pages/webhooks.pages.ts')).createWebhookPages(service),
})
