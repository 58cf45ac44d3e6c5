/** How far an endpoint has come and how it fails, in the database and in memory. */
import type { Clock } from '../../core/clock.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { DeliveryStore } from './deliveries.store.ts'
import { nextAttemptAt } from './retry-schedule.ts'
import { createSuccessWriter } from './success-writer.ts'
import type { Attempt, Message } from './webhook.ts'
import type { WebhookRow, WebhookStore } from './webhooks.store.ts'

export interface RecordDeps {
  db: Database
  clock: Clock
  log: Log
  audit: Audit
  store: WebhookStore
  deliveries: DeliveryStore
  /** Of the lease. */
  holder: string
}

/** Of what the service does by itself. */
const noClient = { address: '', userAgent: '' }

export function createEndpointRecord(webhook: WebhookRow, deps: RecordDeps) {
  const { db, clock, log, audit, store, deliveries, holder } = deps
  const { id, revision } = webhook
  let { position, failures } = webhook
  let failingSince = webhook.failing_since
  let waitUntil = webhook.next_attempt_at
  let saved = position
  const successes = createSuccessWriter({ webhookId: id, db, store, deliveries, holder })

  function switchedOff(): Statement {
    return audit.entry({
      event: 'webhook_switched_off',
      outcome: 'success',
      userId: null,
      actorId: null,
      changes: {
        webhook: { from: id, to: id },
        url: { from: webhook.url, to: webhook.url },
        enabled: { from: true, to: false },
      },
      client: noClient,
    })
  }

  return {
    position: () => position,
    /** When the next attempt is due. Null: now. */
    waitUntil: () => waitUntil,

    /** The entry is done or not wanted. Written with the next success, or by `save`. */
    passed(entryId: number): void {
      position = entryId
    },

    /** Returns false if the lease is lost, or the endpoint is gone. */
    async succeeded(message: Message, attempt: Attempt): Promise<boolean> {
      if (failures > 0) log.info({ webhook: id }, 'a webhook answers again')
      failures = 0
      failingSince = null
      waitUntil = null
      position = message.changeId as number
      saved = position
      return successes.add({ message, attempt, at: clock.now() })
    },

    /** Returns false if the endpoint is switched off or was changed, or the lease is lost. */
    async failed(message: Message, attempt: Attempt): Promise<boolean> {
      if (!(await successes.settle())) return false
      const now = clock.now()
      failures += 1
      failingSince = Math.min(failingSince ?? now, now)
      const next = nextAttemptAt({ failures, failingSince, now })
      const isOff = next === undefined
      const state = { failures, failingSince, nextAttemptAt: next ?? null, offSince: isOff ? clock.nowIso() : null }
      const [changed = []] = await db.write(
        store.fail({ id, revision }, state, holder),
        deliveries.record(id, message, attempt, now),
        ...(isOff ? [switchedOff()] : []),
      )
      if (changed.length === 0) return false
      const details = { webhook: id, message: message.id, status: attempt.responseStatus, reason: attempt.error }
      if (isOff) log.error(details, 'a webhook has failed for three days and is switched off')
      else log.warn(details, `a webhook failed; it is tried again in ${Math.round((next - now) / 1000)} s`)
      waitUntil = next ?? null
      return !isOff
    },

    /** Writes how far it has come. Returns false if the lease is lost. */
    async save(): Promise<boolean> {
      if (!(await successes.settle())) return false
      // Would end the failures.
      if (position === saved || failures > 0) return true
      const [rows] = await db.write(store.advance(id, position, holder))
      saved = position
      return rows.length > 0
    },
  }
}
