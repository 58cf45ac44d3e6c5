/** The trail of what happened to accounts. Never a secret: only what, to whom, by whom, from where, and how it ended. */
import type { Clock } from '../../core/clock.ts'
import type { Param, Statement } from '../database/database.ts'
import type { Client } from '../http/client.ts'

/** A code, such as `login`. Features declare theirs, each with its words. */
export type AuditEvent = string

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
  onCount(listener: CountEvent): void
  /** An event in words. The code of another version stands for itself. */
  describe(event: AuditEvent): string
}

export interface AuditOptions {
  clock: Clock
  /** All that features have declared, with their words. */
  events: Readonly<Record<AuditEvent, string>>
}

export function createAudit({ clock, events }: AuditOptions): Audit {
  const counters: CountEvent[] = []
  return {
    entry({ event, outcome, userId, actorId, changes, client }) {
      if (!Object.hasOwn(events, event)) throw new Error(`no feature declares the audit event "${event}"`)
      return {
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
      }
    },
    count(event, outcome) {
      for (const counter of counters) counter(event, outcome)
    },
    onCount: (listener) => void counters.push(listener),
    describe: (event) => (Object.hasOwn(events, event) ? (events[event] as string) : event),
  }
}
