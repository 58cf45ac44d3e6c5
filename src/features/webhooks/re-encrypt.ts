/** After a change of APP_KEY or JWT_SECRET: secrets are encrypted with the new key, so that the one before can be removed. */
import type { Database } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { reEncrypted } from './webhook-secrets.ts'
import type { WebhookStore } from './webhooks.store.ts'

export async function reEncryptSecrets(deps: {
  db: Database
  store: Pick<WebhookStore, 'list' | 'replaceSecrets'>
  encryption: Encryption
  log: Log
}): Promise<void> {
  const { db, store, encryption, log } = deps
  for (const row of await store.list()) {
    const { id } = row
    try {
      const renewed = reEncrypted(row, encryption)
      if (renewed) await db.write(store.replaceSecrets(row, renewed, row.updated_at))
    } catch (error) {
      const advice = 'was APP_KEY or JWT_SECRET changed? Replace its secret'
      log.error({ err: error, webhook: id }, `the secret of a webhook cannot be decrypted; ${advice}`)
    }
  }
}
