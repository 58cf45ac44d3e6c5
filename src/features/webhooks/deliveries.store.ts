import type { Database, Statement } from '../../platform/database/database.ts'
import type { Attempt, Delivery, DeliveryPage, Message } from './webhook.ts'

export interface DeliveryRow extends Delivery {
  change_id: number | null
}

const columns = `id, message_id, change_id, type, status, attempts, response_status, response, error, duration_ms,
  created_at, attempted_at`
const keptSeconds = 7 * 86_400

export function createDeliveryStore(db: Database) {
  return {
    /** The newest first. Those that failed have an index; nearly all others are delivered. */
    list(webhookId: number, { before, limit, status }: DeliveryPage): Promise<DeliveryRow[]> {
      const ofStatus = status === undefined ? '' : `AND status = '${status}'`
      const sql = `SELECT ${columns} FROM webhook_deliveries WHERE webhook_id = $1 AND id < $2 ${ofStatus}
                   ORDER BY id DESC LIMIT $3`
      const params = [webhookId, before, limit]
      return status === 'delivered' ? db.scan(sql, params) : db.all(sql, params)
    },

    find: (webhookId: number, id: number) =>
      db.get<DeliveryRow>(`SELECT ${columns} FROM webhook_deliveries WHERE webhook_id = $1 AND id = $2`, [
        webhookId,
        id,
      ]),

    /** Adds the attempt to the message's row. */
    record(webhookId: number, message: Message, attempt: Attempt, nowMs: number): Statement {
      const now = new Date(nowMs).toISOString()
      return {
        sql: `INSERT INTO webhook_deliveries (webhook_id, message_id, change_id, type, status, attempts, response_status,
                response, error, duration_ms, created_at, attempted_at, expires_at)
              VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $8, $9, $10, $10, $11)
              ON CONFLICT (webhook_id, message_id) DO UPDATE SET
                status = excluded.status, attempts = webhook_deliveries.attempts + 1,
                response_status = excluded.response_status, response = excluded.response, error = excluded.error,
                duration_ms = excluded.duration_ms, attempted_at = excluded.attempted_at, expires_at = excluded.expires_at
              RETURNING ${columns}`,
        params: [
          webhookId,
          message.id,
          message.changeId,
          message.type,
          attempt.status,
          attempt.responseStatus,
          attempt.response,
          attempt.error,
          attempt.durationMs,
          now,
          Math.floor(nowMs / 1000) + keptSeconds,
        ],
      }
    },
  }
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

export function toDelivery({ change_id: _change, ...row }: DeliveryRow): Delivery {
  return row
}
