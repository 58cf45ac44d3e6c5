/** Reads the database beside the service. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

export type Row = Record<string, unknown>

export interface Reader {
  rows(sql: string): Promise<Row[]>
  /** What the engine itself finds wrong with the database. */
  findDamage(): Promise<string[]>
  close(): Promise<void>
}

export async function openReader(url: string): Promise<Reader> {
  return url.startsWith('file:') ? openSqlite(url.slice('file:'.length)) : openPostgres(url)
}

/** Products that can be found and are not in their index of names, and the other way round. */
const unlikeIndex = [
  ['product_grams_docsize', 'p.active'],
  ['inactive_product_grams_docsize', 'NOT p.active'],
].map(
  ([index, state]) => `SELECT p.id FROM products p FULL JOIN ${index} d ON d.id = p.id
    WHERE (p.id IS NOT NULL AND ${state} AND p.deleted_at IS NULL) <> (d.id IS NOT NULL)`,
)

/** Read-only, so that it is the service that recovers the file. */
function openSqlite(path: string): Reader {
  const db = new DatabaseSync(path, { readOnly: true })
  const all = (sql: string): Row[] => db.prepare(sql).all()
  return {
    rows: async (sql) => all(sql),
    async findDamage() {
      const found = all('PRAGMA integrity_check').map(({ integrity_check }) => String(integrity_check))
      const orphans = all('PRAGMA foreign_key_check').map((row) => `no parent: ${JSON.stringify(row)}`)
      const indexed = unlikeIndex.flatMap(all).map(({ id }) => `product ${id} and the index of names differ`)
      return [...found.filter((line) => line !== 'ok'), ...orphans, ...indexed]
    },
    close: async () => db.close(),
  }
}

async function openPostgres(url: string): Promise<Reader> {
  const client = new pg.Client({ connectionString: url })
  // Of a server that is killed.
  client.on('error', () => {})
  await client.connect()
  const rows = async (sql: string): Promise<Row[]> => (await client.query<Row>(sql)).rows
  return {
    rows,
    async findDamage() {
      await rows('CREATE EXTENSION IF NOT EXISTS amcheck')
      const found = await rows(
        `SELECT c.relname, v.msg FROM pg_class c, verify_heapam(c.oid) v
         WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`,
      )
      try {
        // With all rows of the table looked up.
        await rows(
          `SELECT bt_index_check(c.oid, true) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
           WHERE c.relkind = 'i' AND a.amname = 'btree' AND c.relnamespace = 'public'::regnamespace`,
        )
      } catch (error) {
        return [String(error)]
      }
      return found.map(({ relname, msg }) => `${relname}: ${msg}`)
    },
    close: () => client.end(),
  }
}
