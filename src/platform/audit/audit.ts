/** The trail of what happened to accounts. Never a secret: only what, to whom, from where, and how it ended. */
import type { Clock } from '../../core/clock.ts'
import type { Param, Statement } from '../database/database.ts'
import type { Client } from '../http/client.ts'

export type AuditEvent =
  | 'register'
  | 'login'
  | 'refresh'
  | 'logout'
  | 'logout_all'
  | 'session_end'
  | 'sessions_ended'
  | 'lock'
  | 'unlock'
  | 'name_change'
  | 'roles_changed'
  | 'password_change'
  | 'password_forgot'
  | 'password_reset'
  | '2fa_setup'
  | '2fa_enable'
  | '2fa_verify'
  | '2fa_disable'
  | '2fa_recovery_codes'
  | '2fa_reset'

export interface AuditEntry {
  event: AuditEvent
  outcome: string
  /** Null where nobody is known, or a reference to the row that makes the user. */
  userId: Param
  client: Client
}

export interface Audit {
  /** A statement for the batch that makes what it tells true. */
  entry(entry: AuditEntry): Statement
}

export function createAudit({ clock }: { clock: Clock }): Audit {
  return {
    entry: ({ event, outcome, userId, client }) => ({
      sql: `INSERT INTO audit (at, event, outcome, user_id, address, user_agent) VALUES ($1, $2, $3, $4, $5, $6)`,
      params: [clock.nowIso(), event, outcome, userId, client.address, client.userAgent],
    }),
  }
}
