/**
 * Handles dead letters again that somebody has asked to retry: those of a listener one after the other, and those of different
 * listeners side by side.
 */
import type { Clock } from '../../core/clock.ts'
import { waitAtMost } from '../../core/pause.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import { type DeadLetterStore, failureOf } from './dead-letters.store.ts'

/** By listener. The entry is as it was given to the dead letter. */
export type RedeliveryHandlers = ReadonlyMap<string, (entry: unknown) => Promise<void>>

export interface RedeliveryOptions {
  store: DeadLetterStore
  clock: Clock
  log: Log
  handlers: RedeliveryHandlers
}

const everyMs = 1000
/** Longer than a listener may take. */
const claimSeconds = 120
/** During an upgrade another node may have a listener that this one lacks. After this long, no node has it. */
const strangerSeconds = 300
/** One that runs on is due again when its claim ends. */
const maxStopMs = 5000

export function startRedelivery({ store, clock, log, handlers }: RedeliveryOptions): { close(): Promise<void> } {
  const underWay = new Map<string, Promise<void>>()
  let isClosed = false

  async function look(): Promise<void> {
    const now = clock.nowSeconds()
    const due = await store.dueListeners(now)
    const isStrange = due.some((listener) => !handlers.has(listener))
    const late = isStrange ? await store.dueListeners(now - strangerSeconds) : []
    for (const listener of due) {
      if (underWay.has(listener) || !(handlers.has(listener) || late.includes(listener))) continue
      const work = retryAllOf(listener)
        .catch(logFailure)
        .finally(() => underWay.delete(listener))
      underWay.set(listener, work)
    }
  }

  async function retryAllOf(listener: string): Promise<void> {
    while (!isClosed) {
      const now = clock.nowSeconds()
      const dueSince = handlers.has(listener) ? now : now - strangerSeconds
      const letter = await store.claim(listener, { now: dueSince, until: now + claimSeconds })
      if (!letter) return
      try {
        const handle = handlers.get(listener)
        if (!handle) throw new Error('The listener is no longer there')
        await handle(JSON.parse(letter.entry))
        await store.remove(letter.id)
      } catch (error) {
        log.error({ err: error, listener, deadLetter: letter.id }, 'a dead letter failed again')
        await store.failAgain(letter.id, failureOf(error, clock.now()))
      }
    }
  }

  function logFailure(error: unknown): void {
    log.warn({ err: error }, 'dead letters could not be retried; tried again shortly')
  }

  const task = startPeriodicTask({ everyMs, work: look, onError: logFailure })
  return {
    async close() {
      isClosed = true
      await task.close()
      await waitAtMost(maxStopMs, Promise.all(underWay.values()))
    },
  }
}
