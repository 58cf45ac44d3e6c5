/**
 * Sends to one endpoint what it wants of the change log: in order, each message until it is taken, later and later while it
 * fails. Runs on the node that holds the lease.
 */
import type { Alarm } from '../../core/alarm.ts'
import { isAppError } from '../../core/app-error.ts'
import { pause } from '../../core/pause.ts'
import { beginning } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { createKeptConnection } from '../../platform/outbound/connections.ts'
import { createEndpointRecord, type RecordDeps } from './endpoint-record.ts'
import { toMessage } from './message.ts'
import { maxDelayMs } from './retry-schedule.ts'
import type { Send } from './sender.ts'
import { type Attempt, type Message, wantsType } from './webhook.ts'
import type { WebhookPermissions } from './webhook-permissions.ts'
import { typesOf, type WebhookRow } from './webhooks.store.ts'

export interface LoopDeps extends RecordDeps {
  changes: ChangeLog
  permissions: Pick<WebhookPermissions, 'ownerMayRead'>
  send: Send
  onAttempt(status: Attempt['status']): void
  /** Rung when endpoints were made, changed or deleted, or when another node has stopped delivering. */
  alarm: Alarm
}

export interface EndpointLoop {
  /** Resolves when it has ended: stopped, switched off, or without the lease. */
  readonly done: Promise<void>
  position(): number
}

interface Signals {
  /** No further message is begun. */
  stop: AbortSignal
  /** The message that is being sent is given up. */
  cutOff: AbortSignal
}

/** An endpoint that does not answer keeps what was read in memory. */
const page = { limit: 100, maxBytes: 262_144 }
/** Entries that the endpoint does not want are skipped again after a crash. */
const saveSkippedEveryMs = 5000
const skippedText =
  'account events are not sent to a webhook: the user who saved it last is unknown, disabled, or lacks users.view or audit.view'
/** The clock may be moved, so a long wait looks at it now and then. */
const maxSleepMs = 500

export function startEndpointLoop(webhook: WebhookRow, deps: LoopDeps, { stop, cutOff }: Signals): EndpointLoop {
  const { alarm, clock, log, changes, permissions, send, onAttempt, store } = deps
  const record = createEndpointRecord(webhook, deps)
  const types = typesOf(webhook)
  const connection = createKeptConnection()
  let savedAt = performance.now()
  let hasSkipped = false

  async function run(): Promise<void> {
    try {
      await follow(record.position())
    } catch (error) {
      if (!isAppError(error, 'cursor_has_expired')) throw error
      log.error({ webhook: webhook.id }, 'a webhook was too late: changes that it has not been told of were removed')
      await follow(beginning)
    } finally {
      connection.close()
      // If this fails, some entries are looked at again.
      await record.save().catch(() => {})
    }
  }

  async function follow(after: number): Promise<void> {
    for await (const { entries } of changes.follow({ ...page, after, signal: stop })) {
      const wanted = new Set(entries.filter(({ type }) => wantsType(types, type)))
      // Whoever was told of a change expects what is written afterwards to be sent by it. The wake-up of another node may
      // arrive later.
      if (wanted.size > 0 && !(await store.isCurrent(webhook))) return alarm.ring()
      for (const entry of entries) {
        if (stop.aborted) return
        const message = wanted.has(entry) ? toMessage(entry, changes) : undefined
        if (message && !(await deliver(message))) return
        record.passed(entry.id)
      }
      if (performance.now() - savedAt < saveSkippedEveryMs) continue
      savedAt = performance.now()
      if (!(await record.save())) return
    }
  }

  /** Returns false if the loop has to end. What the owner may no longer read is passed over. */
  async function deliver(message: Message): Promise<boolean> {
    for (;;) {
      await waitForTurn()
      if (stop.aborted) return false
      if (!(await permissions.ownerMayRead(webhook, [message.type]))) {
        if (!hasSkipped) log.warn({ webhook: webhook.id, type: message.type }, skippedText)
        hasSkipped = true
        return true
      }
      const attempt = await send(webhook, message, { signal: cutOff, connection })
      if (cutOff.aborted && attempt.status === 'failed') return false
      onAttempt(attempt.status)
      if (attempt.status === 'delivered') return record.succeeded(message, attempt)
      if (!(await record.failed(message, attempt))) return false
    }
  }

  async function waitForTurn(): Promise<void> {
    const due = record.waitUntil() ?? 0
    while (!stop.aborted) {
      const left = due - clock.now()
      // It is never further away than this, unless the clock was wrong when the last attempt failed.
      if (left <= 0 || left > maxDelayMs) return
      await pause(Math.min(left, maxSleepMs), stop)
    }
  }

  return { done: run(), position: record.position }
}
