/** Handles dead letters again that somebody has asked to retry, outside of their order. */
import type { Clock } from '../../core/clock.ts'
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

export function startRedelivery({ store, clock, log, handlers }: RedeliveryOptions): { close(): Promise<void> } {
  const listeners = [...handlers.keys()]
  let isClosed = false

  async function retryAll(): Promise<void> {
    while (!isClosed && (await store.hasDue(clock.nowSeconds(), listeners))) {
      const letter = await store.claim(clock.nowSeconds(), clock.nowSeconds() + claimSeconds, listeners)
      if (!letter) return
      try {
        const handle = handlers.get(letter.listener)
        if (!handle) throw new Error('The listener is no longer there')
        await handle(JSON.parse(letter.entry))
        await store.remove(letter.id)
      } catch (error) {
        log.error({ err: error, listener: letter.listener, deadLetter: letter.id }, 'a dead letter failed again')
        await store.failAgain(letter.id, failureOf(error, clock.now()))
      }
    }
  }

  const task = startPeriodicTask({
    everyMs,
    work: retryAll,
    onError: (error) => log.warn({ err: error }, 'dead letters could not be retried; tried again shortly'),
  })
  return {
    close() {
      isClosed = true
      return task.close()
    },
  }
}
