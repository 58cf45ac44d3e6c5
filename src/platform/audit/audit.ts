/** The trail of what happened to accounts. Never a secret: only what, to whom, by whom, from where, and how it ended. */
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

/** `locked`: refused because of a lock-out. `refused`: by a rule on who may do what. `reuse`: of a refresh token. */
export type AuditOutcome = 'success' | 'failure' | 'locked' | 'second_factor_required' | 'reuse' | 'refused'

/** By field. */
export type AuditChanges = Readonly<Record<string, { from: unknown; to: unknown }>>

export interface AuditEntry {
  event: AuditEvent
  outcome: AuditOutcome
  /** To whom. Null where nobody is known, or a reference to the row that makes the user. */
  userId: Param
  /** By whom, where that is proven. Null for the command line, for attempts of strangers, and for what happens by itself. */
  actorId: Param
  changes?: AuditChanges
  client: Client
}

export type CountEvent = (event: AuditEvent, outcome: AuditOutcome) => void

export interface Audit {
  /** A statement for the batch that makes what it tells true. */
  entry(entry: AuditEntry): Statement
  /** For the metrics, once it has happened. */
  count: CountEvent
}

export function createAudit({ clock, count }: { clock: Clock; count: CountEvent }): Audit {
  return {
    entry: ({ event, outcome, userId, actorId, changes, client }) => ({
      sql: `INSERT INTO audit (at, event, outcome, user_id, actor_id, changes, address, user_agent)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      params: [
        clock.nowIso(),
        event,
        outcome,
        userId,
        actorId,
        changes ? JSON.stringify(changes) : null,
        client.address,
        client.userAgent,
      ],
    }),
    count,
  }
}
