/**
 * How far the log is complete: every entry up to this position is committed and can be read, and none will come before it.
 *
 * SQLite has one writer at a time, so that is the last entry. PostgreSQL gives ids out before the commit, so a transaction
 * that began first may commit last. Ids without a gap are complete. Where one is missing, its transaction has been rolled
 * back or has not ended; it is waited for, but for no other: see docs/decisions/0019-change-log.md for the proof.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../core/clock.ts'
import { runForNobody } from '../../core/current-client.ts'
import type { Dialect } from '../database/database.ts'
import type { ChangeStore } from './changes.store.ts'

export interface SettledPosition {
  /** Looks at the database. Concurrent calls share a look. */
  look(): Promise<number>
  /** The position as of the last look. */
  last(): number | undefined
  /** Whether entries are there that must not be read yet. */
  isHeldBack(): boolean
  /** For how long. */
  heldBackSeconds(): number
}

/** Missing ids up to `upTo` may still come from these transactions. */
interface Waiting {
  upTo: number
  holders: readonly string[]
}

const idsPerLook = 2000
/** How often a start waits for transactions in flight, which usually end within milliseconds. */
const attemptsAtStart = 10
const pauseMs = 10

export interface SettledPositionDeps {
  store: ChangeStore
  dialect: Dialect
  clock: Clock
  /** Entries up to the last position are not there any more. */
  onLost(): void
}

export function createSettledPosition({ store, dialect, clock, onLost }: SettledPositionDeps): SettledPosition {
  let position: number | undefined
  let waiting: Waiting | undefined
  let heldBackSince: number | undefined
  let looking: Promise<number> | undefined

  async function lookOnPostgres(): Promise<number> {
    /** The ids up to here are complete in every snapshot from now on. */
    let complete = await findEnded()
    for (;;) {
      const from = position ?? (await begin())
      const ids = await store.readIds(from, idsPerLook)
      // Another database: a standby that lost transactions, or retention in a process that has not looked for long.
      if (ids[0] !== from && from > 0) {
        position = undefined
        waiting = undefined
        complete = 0
        onLost()
        continue
      }
      const last = ids.at(-1) ?? from
      const reached = lastWithoutGap(ids, Math.max(from, complete))
      move(reached)
      const isAll = ids.length < idsPerLook
      if (reached === last && isAll) return done()
      if (reached > last) continue
      if (waiting) return holdBack(reached)
      // Far behind, the rest is not compared id by id.
      const upTo = isAll ? last : await store.lastId()
      const holders = await store.readHolders()
      // Whoever was missing has ended meanwhile. Read again: what it has committed shows now.
      if (holders.size === 0) complete = upTo
      else {
        waiting = { upTo, holders: [...holders] }
        return holdBack(reached)
      }
    }
  }

  /** Returns up to where ids are complete, because those who could have added some have ended. */
  async function findEnded(): Promise<number> {
    if (!waiting) return 0
    const { upTo } = waiting
    waiting = await stillHolding(waiting)
    if (waiting.holders.length > 0) return 0
    waiting = undefined
    return upTo
  }

  async function stillHolding({ upTo, holders }: Waiting): Promise<Waiting> {
    const now = await store.readHolders()
    return { upTo, holders: holders.filter((holder) => now.has(holder)) }
  }

  /** In this order: whoever has taken an id up to the last one either still holds the lock, or can be read. */
  async function begin(): Promise<number> {
    const upTo = await store.lastId()
    waiting = { upTo, holders: [...(await store.readHolders())] }
    for (let attempt = 1; attempt <= attemptsAtStart; attempt++) {
      if (waiting.holders.length === 0) break
      await sleep(pauseMs * attempt)
      waiting = await stillHolding(waiting)
    }
    if (waiting.holders.length > 0) return store.lastIdBeforeGap()
    waiting = undefined
    return upTo
  }

  function move(to: number): void {
    if (position !== to) heldBackSince = undefined
    position = to
  }

  function done(): number {
    waiting = undefined
    heldBackSince = undefined
    return position ?? 0
  }

  function holdBack(at: number): number {
    heldBackSince ??= clock.now()
    return at
  }

  return {
    look() {
      if (dialect === 'sqlite') return store.lastId().then((id) => (position = id))
      looking ??= runForNobody(lookOnPostgres).finally(() => (looking = undefined))
      return looking
    },
    last: () => position,
    isHeldBack: () => heldBackSince !== undefined,
    heldBackSeconds: () => (heldBackSince === undefined ? 0 : (clock.now() - heldBackSince) / 1000),
  }
}

/** Ids up to `complete` may be missing. */
function lastWithoutGap(ids: readonly number[], complete: number): number {
  let reached = complete
  for (const id of ids) {
    if (id > reached + 1) break
    reached = Math.max(reached, id)
  }
  return reached
}
