/**
 * The change log, as the readers of a thread share it. Entries are written by the database itself, in the transaction of the
 * change: see the migrations of the features.
 */
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import { createWakeUps } from '../bus/wake-ups.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import { type ChangeRow, cursorExpired } from './change.ts'
import { type ChangeStore, createChangeStore } from './changes.store.ts'
import { createFollowers } from './followers.ts'
import type { ChangePage, FollowQuery, OnPage, ReadQuery } from './pages.ts'
import { createSettledPosition } from './settled-position.ts'
import { createTail } from './tail.ts'
import { type ChangeTopics, createChangeTopics } from './topics.ts'
import { createWatch } from './watch.ts'

export interface ChangeLog {
  /** The position from which nothing that is committed from now on is missed. At most a second old on PostgreSQL. */
  latest(): Promise<number>
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
}

const defaultMaxBytes = 2 * 1024 * 1024
/** For `latest` on PostgreSQL. */
const maxAgeMs = 1000

export async function createChangeLog({ db, bus, clock, log }: ChangeLogDeps): Promise<ChangeLog> {
  const store = createChangeStore(db)
  const tail = createTail(store)
  const settled = createSettledPosition({ store, dialect: db.dialect, clock, onLost: forget })
  let lookedAt = Number.NEGATIVE_INFINITY
  const last = () => settled.last() ?? 0
  let shared: { query: ReadQuery; after: number; end: number; page: ChangePage } | undefined

  function forget(): void {
    tail.clear()
    shared = undefined
  }

  async function look(): Promise<number> {
    const startedAt = performance.now()
    const position = await settled.look()
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

  function findPage(query: ReadQuery, after: number): ChangePage | undefined {
    const end = last()
    if (shared && shared.after === after && shared.end === end && isSame(shared.query, query)) return shared.page
    const { limit, maxBytes = defaultMaxBytes } = query
    const rows = cut(tail.after(after) ?? [], end, limit, maxBytes)
    if (rows.length === 0) return undefined
    const page = pageOf(rows, { query, after, end })
    shared = { query, after, end, page }
    return page
  }

  /** Reads up to the position as of the last look. */
  async function readSettled(query: ReadQuery): Promise<ChangePage> {
    const { after, limit, maxBytes = defaultMaxBytes } = query
    const end = settled.last() ?? (await look())
    if (after === end) {
      tail.begin(end)
      return { entries: [], position: after, more: false }
    }
    await tail.fillTo(end, after)
    const found = findPage(query, after)
    if (found) return found
    // A cursor of another thread or node may be ahead of this one. It is valid if its entry is there.
    const rows = await store.readPage({ after, to: Math.max(end, after), limit, maxBytes })
    if (!rows) throw cursorExpired()
    return pageOf(rows, { query, after, end })
  }

  const { wait, follow, pass } = createFollowers({ watch, last, findPage, read: readSettled })

  return {
    store,
    topics: createChangeTopics(),

    async latest() {
      const known = settled.last()
      const isFresh = db.dialect === 'postgres' && performance.now() - lookedAt < maxAgeMs
      return known !== undefined && isFresh ? known : look()
    },

    async read(query) {
      await look()
      return readSettled(query)
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

const isSame = (a: ReadQuery, b: ReadQuery) => a.topic === b.topic && a.limit === b.limit && a.maxBytes === b.maxBytes

interface PageOptions {
  query: ReadQuery
  after: number
  end: number
}

function pageOf(rows: readonly ChangeRow[], { query: { topic }, after, end }: PageOptions): ChangePage {
  const position = rows.at(-1)?.id ?? after
  return {
    entries: topic === undefined ? rows : rows.filter((row) => row.topic === topic),
    position,
    more: position < end,
  }
}

/** The entries up to `end`, at least one, as many as fit. */
function cut(rows: readonly ChangeRow[], end: number, limit: number, maxBytes: number): readonly ChangeRow[] {
  let bytes = 0
  let count = 0
  for (const { id, data } of rows) {
    if (id > end || count === limit || bytes > maxBytes) break
    bytes += data.length
    count += 1
  }
  return rows.slice(0, count)
}
