/** Hands the entries of the log to a function, in order and at least once, through crashes, on one node at a time. */
import { isAppError } from '../../core/app-error.ts'
import { pause, waitAtMost } from '../../core/pause.ts'
import type { Statement } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import { beginning, type ChangeRow } from './change.ts'
import type { ChangeLog } from './change-log.ts'
import { findLagSeconds } from './lag.ts'
import { type LeaseOptions, workUnderLease } from './lease.ts'

/** `name` is that under which its position is stored. A new one begins with the next entry. */
export interface ConsumerOptions extends LeaseOptions {
  changes: ChangeLog
  log: Log
  /** Called again, later and later, until it succeeds. The next entry waits for it. */
  handle(change: ChangeRow, signal: AbortSignal): Promise<void>
  onFailure(): void
  /** Called after each failure. Returns what is stored as the consumer moves on; undefined if it is to be called again. */
  deadLetterOf?(change: ChangeRow, error: unknown, attempts: number): Statement | undefined
}

export interface Consumer {
  /** How old the oldest entry is that is not done. 0 if there is none, or if another node works for the consumer. */
  lagSeconds(): Promise<number>
  /** Stops after the entry that is being handled, and gives the lease up. */
  close(): Promise<void>
}

const entriesPerRead = 100
const saveEveryMs = 1000
const firstRetryMs = 1000
const maxRetryMs = 60_000
/** The entry that is being handled is handled again elsewhere if it takes longer. */
const maxStopMs = 5000

export function startConsumer(options: ConsumerOptions): Consumer {
  const { name, holder, changes, store, clock, log, onFailure } = options
  const lease = { name, holder }
  const stop = new AbortController()
  /** Undefined while another node holds the lease. */
  let position: number | undefined
  let saved = 0

  /** Returns when the lease is lost. */
  async function workFrom(after: number, signal: AbortSignal): Promise<void> {
    position = after
    saved = after
    try {
      await work(after, signal)
      await save()
    } finally {
      position = undefined
    }
  }

  async function work(after: number, signal: AbortSignal): Promise<void> {
    try {
      await handleAll(after, signal)
    } catch (error) {
      if (!isAppError(error, 'cursor_has_expired')) throw error
      log.error({ consumer: name }, 'a consumer was too late: changes that it has not seen were removed')
      await handleAll(beginning, signal)
    }
  }

  async function handleAll(after: number, signal: AbortSignal): Promise<void> {
    for await (const { entries } of changes.follow({ after, limit: entriesPerRead, signal })) {
      if (!(await handlePage(entries, signal))) return
    }
  }

  /** Returns false if the lease was lost, or the service stops. */
  async function handlePage(entries: readonly ChangeRow[], signal: AbortSignal): Promise<boolean> {
    let savedAt = performance.now()
    for (const entry of entries) {
      if (!(await handleUntilDone(entry, signal))) return false
      position = entry.id
      if (performance.now() - savedAt < saveEveryMs) continue
      if (!(await save())) return false
      savedAt = performance.now()
    }
    return save()
  }

  async function handleUntilDone(entry: ChangeRow, signal: AbortSignal): Promise<boolean> {
    for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(2 * retryMs, maxRetryMs)) {
      try {
        await options.handle(entry, signal)
        return true
      } catch (error) {
        onFailure()
        log.error({ err: error, consumer: name, change: entry.id, type: entry.type }, 'a durable listener failed')
        await save()
        const attempts = await store.countFailure(lease, entry.id)
        if (attempts === undefined) return false
        const deadLetter = options.deadLetterOf?.(entry, error, attempts)
        if (deadLetter) return store.giveUp(lease, entry.id, deadLetter)
        await pause(retryMs, signal)
      }
    }
    return false
  }

  async function save(): Promise<boolean> {
    if (position === undefined || position === saved) return true
    const isHeld = await store.advance(lease, position)
    saved = position
    return isHeld
  }

  const running = workUnderLease(
    {
      name,
      holder,
      store,
      clock,
      begin: changes.latest,
      work: workFrom,
      onError: (error) =>
        log.warn({ err: error, consumer: name }, 'a consumer of the change log was interrupted; it goes on shortly'),
    },
    stop.signal,
  )

  return {
    async lagSeconds() {
      return position === undefined ? 0 : findLagSeconds(changes.store, position, clock)
    },
    async close() {
      stop.abort()
      await waitAtMost(maxStopMs, running)
    },
  }
}
