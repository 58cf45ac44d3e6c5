/** Webhooks in the console. */
import type { ConsolePages } from '../../../platform/pages/console-pages.ts'
import { mayCreate, mayView } from '../webhooks.access.ts'
import type { WebhooksService } from '../webhooks.create.ts'
import { webhooksCard } from './webhooks.views.ts'

export function createWebhookPages(service: WebhooksService): ConsolePages {
  return {
    navigation: [
      {
        path: '/console/webhooks',
        name: 'Webhooks',
        icon: 'webhooks',
        key: 'w',
        permission: mayView.permission,
        order: 35,
      },
    ],
    actions: [
      { path: '/console/webhooks/new', name: 'New webhook', may: (principal) => principal.can(mayCreate.permission) },
    ],
    overviewCards: [
      {
        order: 50,
        async show(principal) {
          if (!principal.can(mayView.permission)) return undefined
          const [counts, lagSeconds] = await Promise.all([service.countByState(), service.findLagSeconds()])
          return webhooksCard(counts, lagSeconds)
        },
      },
    ],
    notices: {
      'webhook-saved': 'The webhook is saved.',
      'webhook-on': 'The webhook is on. What it has missed is being sent.',
      'webhook-off': 'The webhook is off.',
      'webhook-deleted': 'The webhook is deleted.',
      'webhook-delivered': 'The message was delivered.',
    },
    routes: (kit) => async (app) => (await import('./webhooks.routes.ts')).addWebhookPages(app, { ...kit, ...service }),
  }
}
