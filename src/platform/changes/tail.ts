/** The newest entries, in memory: read once from the database, for however many readers. */
import { runForNobody } from '../../core/current-client.ts'
import type { ChangeRow } from './change.ts'
import type { ChangeStore } from './changes.store.ts'

export interface Tail {
  /** Has what comes after this position, if it has nothing yet. */
  begin(position: number): void
  /** Reads on to this position, for a reader at `after`. Concurrent calls share the reading. */
  fillTo(position: number, after: number): Promise<void>
  /** Forgets all of them. */
  clear(): void
  /** The entries after this one. Undefined if they are not all here. */
  after(position: number): readonly ChangeRow[] | undefined
}

const maxRows = 1000
const maxBytes = 4 * 1024 * 1024

export function createTail(store: ChangeStore): Tail {
  /** Ids ascend. The entry at `start` is the last one that is not here any more. */
  let rows: ChangeRow[] = []
  let start: number | undefined
  let bytes = 0
  let filling: Promise<void> | undefined

  const end = () => rows.at(-1)?.id ?? start

  async function fill(position: number): Promise<void> {
    const from = end()
    if (from !== undefined && from >= position) return
    const read = from === undefined ? undefined : await readTo(position, from)
    // Too far behind, or removed: those who need what lies between read it themselves.
    if (read?.at(-1)?.id !== position) return restart(position)
    for (const row of read) add(row)
  }

  async function readTo(to: number, after: number): Promise<readonly ChangeRow[] | undefined> {
    // Ids have few gaps. A short page is read without detours.
    return (await store.readPage({ after, to, limit: Math.min(maxRows, to - after), maxBytes }))?.rows
  }

  function restart(at: number): void {
    rows = []
    bytes = 0
    start = at
  }

  function add(row: ChangeRow): void {
    rows.push(row)
    bytes += row.data.length
    let gone = 0
    while (rows.length - gone > maxRows || bytes > maxBytes) {
      const oldest = rows[gone] as ChangeRow
      bytes -= oldest.data.length
      start = oldest.id
      gone += 1
    }
    // Copied, so that what readers hold does not change.
    if (gone > 0) rows = rows.slice(gone)
  }

  return {
    begin(position) {
      if (start === undefined && !filling) restart(position)
    },

    async fillTo(position, after) {
      if (start !== undefined && after < start) return
      filling ??= runForNobody(() => fill(position)).finally(() => (filling = undefined))
      await filling
    },

    clear() {
      rows = []
      bytes = 0
      start = undefined
    },

    after(position) {
      if (position === start) return rows.slice()
      const at = findId(rows, position)
      return at === undefined ? undefined : rows.slice(at + 1)
    },
  }
}

/** By bisection. */
function findId(rows: readonly ChangeRow[], id: number): number | undefined {
  let [low, high] = [0, rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle] as ChangeRow).id < id) low = middle + 1
    else high = middle
  }
  return rows[low]?.id === id ? low : undefined
}
