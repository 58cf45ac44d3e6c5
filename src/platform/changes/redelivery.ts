/** Calls durable listeners again for dead letters that somebody has asked to retry, outside of their order. */
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import type { ChangeRow } from './change.ts'
import { type DeadLetterStore, failureOf } from './dead-letters.store.ts'

export interface RedeliveryOptions {
  store: DeadLetterStore
  clock: Clock
  log: Log
  handle(listener: string, row: ChangeRow): Promise<void>
}

const everyMs = 1000
/** Longer than a listener may take. */
const claimSeconds = 120

export function startRedelivery({ store, clock, log, handle }: RedeliveryOptions): { close(): Promise<void> } {
  let isClosed = false

  async function retryAll(): Promise<void> {
    while (!isClosed && (await store.hasDue(clock.nowSeconds()))) {
      const letter = await store.claim(clock.nowSeconds(), clock.nowSeconds() + claimSeconds)
      if (!letter) return
      try {
        await handle(letter.listener, JSON.parse(letter.entry) as ChangeRow)
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
