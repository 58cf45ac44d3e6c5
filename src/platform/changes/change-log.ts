/**
 * The change log, as the readers of a thread share it. Entries are written by the database itself, in the transaction of the
 * change: see the migrations of the features.
 */
import type { Clock } from '../../core/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log/logger.ts'
import { type ChangeRow, cursorExpired } from './change.ts'
import { type ChangeStore, createChangeStore } from './changes.store.ts'
import { createSettledPosition } from './settled-position.ts'
import { createTail } from './tail.ts'
import { type ChangeTopics, createChangeTopics } from './topics.ts'
import { createWakeUps } from './wake-ups.ts'
import { createWatch } from './watch.ts'

export interface ChangeLog {
  /** The position from which nothing that is committed from now on is missed. At most a second old on PostgreSQL. */
  latest(): Promise<number>
  /** Throws 410 if the entry at `after` is not kept. */
  read(query: ReadQuery): Promise<ChangePage>
  /** Pages of entries as they come, until the signal is aborted. The next one is read when it is asked for. */
  follow(query: ReadQuery & { signal: AbortSignal }): AsyncGenerator<ChangePage>
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

export interface ReadQuery {
  /** All topics by default. */
  topic?: string
  /** A position; `beginning` stands for the oldest entry that is kept. */
  after: number
  limit: number
  /** Ends the page after the entry that exceeds it. */
  maxBytes?: number
}

export interface ChangePage {
  entries: readonly ChangeRow[]
  /** Where to go on: the last entry that was looked at, of whatever topic. */
  position: number
  /** There are entries after it. */
  more: boolean
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
  const settled = createSettledPosition({ store, dialect: db.dialect, clock })
  const tail = createTail(store)
  let lookedAt = Number.NEGATIVE_INFINITY

  async function look(): Promise<number> {
    const startedAt = performance.now()
    const position = await settled.look()
    lookedAt = startedAt
    return position
  }

  const watch = createWatch({ look, last: () => settled.last() ?? 0, isHeldBack: settled.isHeldBack, log })
  const wakeUps = await createWakeUps({
    bus,
    log,
    onWake() {
      lookedAt = Number.NEGATIVE_INFINITY
      watch.lookSoon()
    },
  })

  /** Reads up to the position as of the last look. */
  async function readSettled(query: ReadQuery): Promise<ChangePage> {
    const { after, limit, maxBytes = defaultMaxBytes } = query
    const end = settled.last() ?? (await look())
    if (after === end) return { entries: [], position: after, more: false }
    await tail.fillTo(end, after)
    const held = tail.after(after)
    // A cursor of another thread or node may be ahead of this one. It is valid if its entry is there.
    const to = Math.max(end, after)
    const rows = held ? cut(held, end, limit, maxBytes) : await store.readPage({ after, to, limit, maxBytes })
    if (!rows) throw cursorExpired()
    const position = rows.at(-1)?.id ?? after
    const { topic } = query
    return {
      entries: topic === undefined ? rows : rows.filter((row) => row.topic === topic),
      position,
      more: position < end,
    }
  }

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

    async *follow({ signal, ...query }) {
      let { after } = query
      if (settled.last() === undefined) await look()
      while (!signal.aborted) {
        const page = await readSettled({ ...query, after })
        after = page.position
        if (page.entries.length > 0) yield page
        if (!page.more) await watch.wait(after, signal)
      }
    },

    wait: watch.wait,
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
