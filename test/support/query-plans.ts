/** Finds statements that read a whole table, by the plans of the database. */
import pg from 'pg'
import type { Database, Param, Statement, Value } from '../../src/platform/database/database.ts'

interface Recorded {
  sql: string
  params: Value[]
}

/** The statements of requests from now on, each text once. Not those of `scan`, which may read much, unless asked for. */
export function recordStatements(db: Database, { withScans = false } = {}): () => Recorded[] {
  const texts = new Map<string, Recorded>()
  const record = (sql: string, params: readonly Param[] = []) =>
    void texts.set(sql, { sql, params: params.map((param) => (isReference(param) ? null : param)) })
  const { get, all, write, scan } = db
  const recorded: Pick<Database, 'get' | 'all'> = {
    get: (sql, params) => {
      record(sql, params)
      return get(sql, params)
    },
    all: (sql, params) => {
      record(sql, params)
      return all(sql, params)
    },
  }
  const scans: Pick<Database, 'scan'> = {
    scan: (sql, params) => {
      record(sql, params)
      return scan(sql, params)
    },
  }
  Object.assign(db, recorded, withScans && scans, {
    write: (...statements: Statement[]) => {
      for (const { sql, params } of statements) record(sql, params)
      return write(...statements)
    },
  })
  return () => [...texts.values()]
}

/** The steps of their plans. */
export async function plansOf(
  { db, databaseUrl }: { db: Database; databaseUrl: string },
  recorded: readonly Recorded[],
): Promise<string[][]> {
  const explain = db.dialect === 'sqlite' ? explainOnSqlite(db) : await explainOnPostgres(databaseUrl)
  const plans: string[][] = []
  for (const each of recorded) plans.push(await explain.plan(each))
  await explain.close()
  return plans
}

/** Those whose plan reads all rows of one of these tables. */
export async function findTableScans(
  { db, databaseUrl }: { db: Database; databaseUrl: string },
  recorded: readonly Recorded[],
  tables: readonly string[],
): Promise<string[]> {
  const plans = await plansOf({ db, databaseUrl }, recorded)
  return recorded.flatMap(({ sql }, i) => {
    const scans = (plans[i] ?? []).filter((step) => tables.some((table) => isScanOf(step, table, sql)))
    return scans.length > 0 ? [`${scans.join(', ')}: ${sql.replace(/\s+/g, ' ')}`] : []
  })
}

function explainOnSqlite(db: Database) {
  return {
    async plan({ sql, params }: Recorded): Promise<string[]> {
      const steps = await db.scan<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params)
      return steps.map(({ detail }) => detail)
    },
    close: async () => {},
  }
}

/** Tables of tests are small, so PostgreSQL would read them whole: told not to, it does where it has no index for it. */
async function explainOnPostgres(url: string) {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('SET enable_seqscan = off')
  return {
    async plan({ sql, params }: Recorded): Promise<string[]> {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, params)
      return rows.map((row) => row['QUERY PLAN'].trim())
    },
    close: () => client.end(),
  }
}

/** SQLite names a table by its alias. One that is read by an index has more after its name. */
function isScanOf(step: string, table: string, sql: string): boolean {
  const [, name] = /^SCAN (\w+)$/.exec(step) ?? /Seq Scan on (\w+)/.exec(step) ?? []
  if (name === undefined) return false
  return (
    name === table || sql.replace(/\s+/g, ' ').includes(`${table} ${name} `) || sql.includes(`${table} AS ${name} `)
  )
}

function isReference(param: Param): param is Exclude<Param, Value> {
  return typeof param === 'object' && param !== null && !(param instanceof Uint8Array)
}
