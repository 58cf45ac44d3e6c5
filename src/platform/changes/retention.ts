/** Removes old entries in the background, in small batches so that requests never wait for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import { beginningTopic, createChangeStore } from './changes.store.ts'
import type { Cursors } from './cursors.ts'

export interface RetentionOptions {
  db: Database
  clock: Clock
  log: Log
  /** 0 keeps entries for ever. */
  days: number
  /** Nodes of the release before would not notice that entries between others are gone, so these nodes are waited for. */
  cursors: Pick<Cursors, 'pending'>
}

const everyMs = 60_000
const batch = 500
const pauseMs = 20

export function startRetention({ db, clock, log, days, cursors }: RetentionOptions) {
  const store = createChangeStore(db)
  let isClosed = false

  /** Returns how many entries it removed. */
  async function run(): Promise<number> {
    let removed = 0
    for (let isMore = days > 0 && !cursors.pending; isMore && !isClosed; ) {
      const oldest = await store.readOldest(batch + 1)
      const end = new Date(clock.now() - days * 86_400_000).toISOString()
      const firstKept = oldest.findIndex(({ at }) => at > end)
      const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept)
      const stays = old.at(-1)
      // The newest old one of each topic stays, so there may be nothing to do.
      const kept = new Set(old.map(({ topic }) => topic))
      kept.delete(stays?.topic === beginningTopic ? '' : beginningTopic)
      if (stays && old.length > kept.size) removed += await store.removeBefore(stays.id)
      isMore = old.length > batch
      if (isMore) await sleep(pauseMs)
    }
    return removed
  }

  const repeated = startPeriodicTask({
    everyMs,
    work: run,
    onError: (error) => log.warn({ err: error }, 'removing old changes failed; it is tried again in a minute'),
  })

  return {
    run,
    async close() {
      isClosed = true
      await repeated.close()
    },
  }
}
