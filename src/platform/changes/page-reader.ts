/** Reads pages up to the settled position, from memory where the newest entries are enough. */
import { type ChangeRow, cursorExpired } from './change.ts'
import type { ChangeStore } from './changes.store.ts'
import type { ChangePage, ReadQuery } from './pages.ts'
import type { SettledPosition } from './settled-position.ts'
import type { Tail } from './tail.ts'

export interface PageReaderDeps {
  store: ChangeStore
  tail: Tail
  settled: Pick<SettledPosition, 'last'>
  look(): Promise<number>
}

const defaultMaxBytes = 2 * 1024 * 1024

export function createPageReader({ store, tail, settled, look }: PageReaderDeps) {
  let shared: { query: ReadQuery; after: number; end: number; page: ChangePage } | undefined

  /** The next page after this position, if it is in memory. */
  function find(query: ReadQuery, after: number): ChangePage | undefined {
    const end = settled.last() ?? 0
    if (shared && shared.after === after && shared.end === end && isSame(shared.query, query)) return shared.page
    const { limit, maxBytes = defaultMaxBytes } = query
    const held = tail.after(after)
    if (held?.at(-1) === undefined || (held.at(-1) as ChangeRow).id < end) return undefined
    const rows = held.filter(({ id, topic }) => id <= end && (query.topic ?? topic) === topic)
    const entries = cut(rows, limit, maxBytes)
    const page = pageOf(entries, { more: entries.length < rows.length, end })
    shared = { query, after, end, page }
    return page
  }

  /** Reads up to the position as of the last look. */
  async function read(query: ReadQuery): Promise<ChangePage> {
    const { after, limit, maxBytes = defaultMaxBytes } = query
    const end = settled.last() ?? (await look())
    if (after === end) {
      tail.begin(end)
      return { entries: [], position: after, more: false }
    }
    await tail.fillTo(end, after)
    const found = find(query, after)
    if (found) return found
    // A cursor of another thread or node may be ahead of this one. It is valid if its entry is there.
    const to = Math.max(end, after)
    const stored = await store.readPage({ topic: query.topic, after, to, limit, maxBytes })
    if (!stored) throw cursorExpired()
    return pageOf(stored.rows, { more: stored.more, end: to })
  }

  return {
    find,
    read,
    forget() {
      shared = undefined
    },
  }
}

const isSame = (a: ReadQuery, b: ReadQuery) => a.topic === b.topic && a.limit === b.limit && a.maxBytes === b.maxBytes

function pageOf(entries: readonly ChangeRow[], { more, end }: { more: boolean; end: number }): ChangePage {
  return { entries, position: more ? (entries.at(-1)?.id ?? end) : end, more }
}

/** At least one entry, as many as fit. */
function cut(rows: readonly ChangeRow[], limit: number, maxBytes: number): readonly ChangeRow[] {
  let bytes = 0
  let count = 0
  for (const { data } of rows) {
    if (count === limit || bytes > maxBytes) break
    bytes += data.length
    count += 1
  }
  return rows.slice(0, count)
}
