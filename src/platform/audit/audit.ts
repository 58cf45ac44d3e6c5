/** The audit trail: event, user, actor, client and outcome. Entries never contain secrets. */
import type { Clock } from '../../core/clock.ts'
import type { Param, Statement } from '../database/database.ts'
import type { Client } from '../http/client.ts'

/** A code such as `login`. Features declare their events with a description. */
export type AuditEvent = string

/** `locked`: refused by a lock-out. `refused`: refused by authorization. `reuse`: a refresh token was reused. */
export type AuditOutcome = 'success' | 'failure' | 'locked' | 'second_factor_required' | 'reuse' | 'refused'

/** By field. */
export type AuditChanges = Readonly<Record<string, { from: unknown; to: unknown }>>

export interface AuditEntry {
  event: AuditEvent
  outcome: AuditOutcome
  /** The user it happened to. Null if unknown; a row reference if the same batch creates the user. */
  userId: Param
  /** The authenticated user who did it. Null for the command line, for unauthenticated attempts and for automatic events. */
  actorId: Param
  changes?: AuditChanges
  client: Client
}

export type CountEvent = (event: AuditEvent, outcome: AuditOutcome) => void

export interface Audit {
  /** A statement for the same batch as the audited change. */
  entry(entry: AuditEntry): Statement
  /** For the metrics. Call it after the commit. */
  count: CountEvent
  onCount(listener: CountEvent): void
  /** The description of an event. Unknown codes, as of another version, are returned as they are. */
  describe(event: AuditEvent): string
  /** All that are declared, with their descriptions. */
  readonly events: Readonly<Record<AuditEvent, string>>
}

export interface AuditOptions {
  clock: Clock
  /** All events declared by features, with their descriptions. */
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
    events,
    onCount: (listener) => void counters.push(listener),
    describe: (event) => (Object.hasOwn(events, event) ? (events[event] as string) : event),
  }
}
