import type { CoreConfig } from '../../config/config.ts'
import { optional, type ValuesOf } from '../../config/key.ts'
import { bool } from '../../config/readers.ts'

export const webhookKeys = {
  webhooks: {
    allowPrivate: optional('webhooks.allow_private', bool, 'WEBHOOKS_ALLOW_PRIVATE'),
  },
}

export type WebhooksConfig = CoreConfig & ValuesOf<typeof webhookKeys>

/** Whether endpoints may be in the private network, and may be reached without encryption. */
export function allowsPrivate({ webhooks, isDevelopment }: WebhooksConfig): boolean {
  return webhooks.allowPrivate ?? isDevelopment
}
