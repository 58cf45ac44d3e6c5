/** Lists what was sent, and sends single messages on request. */
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Database } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { type DeliveryRow, type DeliveryStore, toDelivery } from './deliveries.store.ts'
import { toMessage } from './message.ts'
import type { Send } from './sender.ts'
import { type Delivery, type DeliveryPage, type Message, testType } from './webhook.ts'
import type { Reader, WebhookPermissions } from './webhook-permissions.ts'
import type { WebhookRow, WebhookStore } from './webhooks.store.ts'

export interface DeliveriesDeps {
  db: Database
  clock: Clock
  random: Random
  store: WebhookStore
  deliveries: DeliveryStore
  changes: Pick<ChangeLog, 'topics' | 'cursors' | 'store'>
  permissions: WebhookPermissions
  send: Send
  /** Tells whoever delivers to look. */
  wake(): void
}

export const changeNoLongerKept = () => new AppError(410, 'Change is no longer kept')

export type Deliveries = ReturnType<typeof createDeliveries>

export function createDeliveries(deps: DeliveriesDeps) {
  const { db, clock, random, store, deliveries, changes, permissions, send, wake } = deps

  async function sendNow(webhook: WebhookRow, message: Message): Promise<Delivery> {
    const attempt = await send(webhook, message)
    const [[row]] = await db.write<DeliveryRow>(deliveries.record(webhook.id, message, attempt, clock.now()))
    return toDelivery(row as DeliveryRow)
  }

  function testMessage({ id }: WebhookRow, messageId: string): Message {
    const data = { webhook_id: id, text: 'This is a test.' }
    return { id: messageId, changeId: null, type: testType, at: clock.nowIso(), data }
  }

  async function messageOf(row: WebhookRow, { change_id, message_id }: DeliveryRow): Promise<Message> {
    if (change_id === null) return testMessage(row, message_id)
    const [change] = await changes.store.readByIds([change_id])
    const message = change && toMessage(change, changes)
    if (!message) throw changeNoLongerKept()
    // The name of the change may be another by now, if a secret was replaced.
    return { ...message, id: message_id }
  }

  return {
    /** Also while the endpoint is off. */
    async test(id: number | undefined): Promise<Delivery> {
      const row = await store.require(id)
      return sendNow(row, testMessage(row, `msg_test_${random.id()}`))
    },

    /** Without the responses to what the reader may not read: endpoints may repeat what they were sent. */
    async list(id: number | undefined, page: DeliveryPage, reader: Reader): Promise<Delivery[]> {
      const { id: known } = await store.require(id)
      const rows = await deliveries.list(known, page)
      return rows.map((row) => ({
        ...toDelivery(row),
        ...(!permissions.mayRead(reader, [row.type]) && { response: '' }),
      }))
    },

    /** Sends the message again, with the same id. */
    async retry(id: number | undefined, deliveryId: number | undefined, reader: Reader): Promise<Delivery> {
      const row = await store.require(id)
      const stored = deliveryId === undefined ? undefined : await deliveries.find(row.id, deliveryId)
      if (!stored) throw httpErrors.notFound()
      const types = [stored.type]
      const isAllowed = permissions.mayRead(reader, types) && (await permissions.ownerMayRead(row, types))
      if (!isAllowed) throw httpErrors.forbidden()
      const sent = await sendNow(row, await messageOf(row, stored))
      // It answers again, so what waits for it is sent, too.
      if (sent.status === 'delivered') {
        await store.hurry(row.id)
        wake()
      }
      return sent
    },
  }
}
