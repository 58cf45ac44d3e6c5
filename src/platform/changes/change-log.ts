/**
 * The change log, as the readers of a thread share it. Entries are written by the database itself, in the transaction of the
 * change: see the migrations of the features.
 */
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import { createWakeUps } from '../bus/wake-ups.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import { type ChangeStore, createChangeStore } from './changes.store.ts'
import type { Cursors } from './cursors.ts'
import { createFollowers } from './followers.ts'
import { createPageReader } from './page-reader.ts'
import type { ChangePage, FollowQuery, OnPage, ReadQuery } from './pages.ts'
import { createSettledPosition } from './settled-position.ts'
import { createTail } from './tail.ts'
import { createTopicPositions, type TopicState } from './topic-positions.ts'
import { type ChangeTopics, createChangeTopics } from './topics.ts'
import { createWatch } from './watch.ts'

export interface ChangeLog {
  /** The position from which nothing that is committed from now on is missed. At most a second old on PostgreSQL. */
  latest(): Promise<number>
  /** The same for readers of one topic. Says nothing of what others log. */
  latestOf(topic: string): Promise<number>
  /** What the rows of a topic are as of now, including all that was committed before the call. */
  stateOf(topic: string, table: string): Promise<TopicState>
  /** Throws 410 if the entry at `after` is not kept. */
  read(query: ReadQuery): Promise<ChangePage>
  /** Pages of entries as they come, until the signal is aborted. The next one is read when it is asked for. */
  follow(query: FollowQuery): AsyncGenerator<ChangePage>
  /** The same by calls, which is cheaper for many readers. Resolves when the signal is aborted. */
  pass(query: FollowQuery, onPage: OnPage): Promise<void>
  /** Resolves when there are entries after this position, when the signal is aborted, or when the log is closed. */
  wait(after: number, signal: AbortSignal): Promise<void>
  /** Call after a commit that has added entries: readers on all nodes then look at once, otherwise within a second. */
  wake(): void
  readonly store: ChangeStore
  readonly topics: ChangeTopics
  readonly cursors: Cursors
  /** How many wait now. */
  waiting(): number
  /** For how long committed entries have been waiting for an older transaction. */
  heldBackSeconds(): Promise<number>
  close(): Promise<void>
}

export interface ChangeLogDeps {
  db: Database
  bus: Bus
  clock: Clock
  log: Log
  cursors: Cursors
}

/** For `latest` on PostgreSQL. */
const maxAgeMs = 1000

export async function createChangeLog({ db, bus, clock, log, cursors }: ChangeLogDeps): Promise<ChangeLog> {
  const store = createChangeStore(db)
  const tail = createTail(store)
  const settled = createSettledPosition({ store, dialect: db.dialect, clock, onLost: forget })
  let lookedAt = Number.NEGATIVE_INFINITY
  const last = () => settled.last() ?? 0
  const pages = createPageReader({ store, tail, settled, look })
  const topicPositions = createTopicPositions({ store, dialect: db.dialect, cursors, latest })

  function forget(): void {
    tail.clear()
    pages.forget()
    topicPositions.forget()
  }

  async function look(): Promise<number> {
    const startedAt = performance.now()
    const position = await settled.look()
    // In this order, so that no decimal cursor is beyond the last one that is valid.
    await cursors.refresh()
    lookedAt = startedAt
    return position
  }

  /** For those who wait: what is new is then in memory. */
  async function lookAndFill(): Promise<void> {
    const end = await look()
    await tail.fillTo(end, end)
  }

  const watch = createWatch({ look: lookAndFill, last, isHeldBack: settled.isHeldBack, log })
  const wakeUps = await createWakeUps({
    bus,
    topic: 'changes',
    log,
    onWake() {
      lookedAt = Number.NEGATIVE_INFINITY
      watch.lookSoon()
    },
  })

  async function latest(): Promise<number> {
    const known = settled.last()
    const isFresh = db.dialect === 'postgres' && performance.now() - lookedAt < maxAgeMs
    return known !== undefined && isFresh ? known : look()
  }

  const { wait, follow, pass } = createFollowers({ watch, last, findPage: pages.find, read: pages.read })

  return {
    store,
    topics: createChangeTopics(),

    cursors,
    latest,
    latestOf: topicPositions.latestOf,
    stateOf: topicPositions.stateOf,

    async read(query) {
      await look()
      return pages.read(query)
    },

    follow,
    pass,
    wait,
    wake: wakeUps.wake,
    waiting: watch.count,
    async heldBackSeconds() {
      // Where nobody reads, nobody has looked since.
      if (settled.isHeldBack()) await look()
      return settled.heldBackSeconds()
    },

    async close() {
      watch.close()
      wakeUps.close()
    },
  }
}
