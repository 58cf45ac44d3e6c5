/** A copy of the products in a SQLite file. follow.ts and receive.ts keep it up to date. */
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Change {
  cursor: string
  type: string
  version: number
  data: { id: number }
}
type Listed = { data: { id: number }[]; meta: { next: string | null } }
type Changes = { data: Change[]; meta: { cursor: string } }

const base = process.env.LATCHKEY_URL ?? 'http://localhost:3000'
const copy = new DatabaseSync(process.env.COPY_FILE ?? 'products.db', { timeout: 5000 })
copy.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS products (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, data TEXT);
  CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY, cursor TEXT NOT NULL)`)
const put = copy.prepare(`INSERT INTO products VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE
  SET version = excluded.version, data = excluded.data WHERE excluded.version >= products.version`)

/** A change that comes again, or after a later one, does nothing. A deleted product leaves a row without data. */
export function apply({ version, type, data }: Omit<Change, 'cursor'>): void {
  put.run(data.id, version, type === 'product.deleted' ? null : JSON.stringify(data))
}

/** Where to go on. Saved after the changes before it, which come again if the program ends in between. */
export const readPlace = () => copy.prepare('SELECT cursor FROM place').get()?.cursor as string | undefined
export const savePlace = (cursor: string) => copy.prepare('REPLACE INTO place VALUES (1, ?)').run(cursor)

/** Asks until there is an answer. */
export async function get<Body = Changes>(path: string): Promise<{ status: number; cursor: string; body: Body }> {
  for (; ; await sleep(1000)) {
    try {
      const response = await fetch(base + path, { signal: AbortSignal.timeout(60_000) })
      const { status, headers } = response
      const body = (await response.json()) as Body
      if (response.ok || status === 410) return { status, cursor: headers.get('x-cursor') ?? '', body }
      throw new Error(`status ${status}`)
    } catch (error) {
      process.stderr.write(`${path}: ${error}\n`)
    }
  }
}

/** Reads the whole table, and returns the cursor from which to go on. */
export async function list(): Promise<string> {
  copy.exec('UPDATE products SET version = -1')
  let [start, after] = ['', '']
  // By id, each page after the last product of the one before: nothing is left out while products come and go.
  for (let isMore = true; isMore; ) {
    const { cursor, body } = await get<Listed>(`/api/v2/products?sort=id&per_page=100&cursor=${after}`)
    start ||= cursor
    for (const data of body.data) apply({ version: 0, type: 'product.listed', data })
    isMore = body.meta.next !== null
    after = body.meta.next ?? ''
  }
  copy.exec('DELETE FROM products WHERE version = -1')
  savePlace(start)
  return start
}
