/** Re-checks tokens in small batches. Failed checks are retried. */
import { setImmediate as rest, setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log/logger.ts'
import type { Bearer } from './bearers.ts'

export interface CheckQueueOptions {
  check(bearer: Bearer): Promise<void>
  log: Log
}

/** Batch size before yielding to the event loop. */
const checkedAtOnce = 20
const retryMs = 400

export function createCheckQueue({ check, log }: CheckQueueOptions) {
  /** Tokens that the bus reported as changed. */
  const urgent = new Set<Bearer>()
  /** Tokens of the periodic check. */
  const due = new Set<Bearer>()
  let isChecking = false
  let isFailing = false
  let isClosed = false

  /** Runs until both sets are empty. */
  async function start(): Promise<void> {
    if (isChecking) return
    isChecking = true
    for (let taken = take(); taken.size > 0; taken = take()) {
      await rest()
      const outcomes = await Promise.allSettled([...taken.keys()].map(check))
      const failed = [...taken].filter((_, i) => outcomes[i]?.status === 'rejected')
      for (const [bearer, from] of failed) if (bearer.connections.size > 0) from.add(bearer)
      report(outcomes)
      // A database that is unavailable must not disconnect anybody, so the check is retried.
      if (failed.length > 0) await sleep(retryMs, undefined, { ref: false })
    }
    isChecking = false
  }

  /** Takes the next batch, with the set that each came from. */
  function take(): Map<Bearer, Set<Bearer>> {
    const taken = new Map<Bearer, Set<Bearer>>()
    if (isClosed) return taken
    for (const from of [urgent, due]) {
      for (const bearer of from) {
        if (taken.size === checkedAtOnce) return taken
        from.delete(bearer)
        if (!taken.has(bearer)) taken.set(bearer, from)
      }
    }
    return taken
  }

  function report(outcomes: PromiseSettledResult<void>[]): void {
    const failure = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failure && !isFailing) log.warn({ err: failure.reason }, 'open connections cannot be checked; tried again')
    isFailing = failure !== undefined
  }

  return {
    addUrgent(bearers: Iterable<Bearer>): void {
      for (const bearer of bearers) urgent.add(bearer)
      void start()
    },

    addDue(bearers: Iterable<Bearer>): void {
      for (const bearer of bearers) due.add(bearer)
      void start()
    },

    remove(bearer: Bearer): void {
      urgent.delete(bearer)
      due.delete(bearer)
    },

    close(): void {
      isClosed = true
    },
  }
}
