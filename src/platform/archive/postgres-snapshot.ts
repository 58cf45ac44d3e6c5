/** One moment of a PostgreSQL database, read by cursors in one transaction. */
import type pg from 'pg'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { parsePostgresUrl } from '../../core/postgres-url.ts'
import { isCounted } from '../database/counted-lists.ts'
import { countTables } from '../database/maintained-counts.ts'
import type { DeclaredSchema } from '../database/migrations.ts'
import { createHosts, type OpenedClient } from '../database/postgres/hosts.ts'
import { beginStatements, requireSchema } from '../database/postgres/session.ts'
import { type Cell, type Column, inOrder, type Row, type Table } from './content.ts'
import { cellReader, kindOfType } from './postgres-values.ts'
import { type AppliedRow, knownMigrations, migrationTable, quote, tablesOf } from './schema.ts'
import type { Snapshot } from './sqlite-snapshot.ts'

const rowsAtOnce = 1000

export async function openPostgresSnapshot(url: string, schema: DeclaredSchema): Promise<Snapshot> {
  const { client } = await connectForArchive(url)
  try {
    await beginForArchive(client, { isolation: 'REPEATABLE READ READ ONLY' })
    const applied = await readApplied(client)
    if (!applied) throw await findWhyEmpty(client, url)
    const migrations = knownMigrations(schema, 'postgres', applied)
    const names = tablesOf(
      schema,
      migrations.map(({ name }) => name),
    ).map(({ name }) => name)
    const tables = await describeTables(client, names)
    return {
      dialect: 'postgres',
      migrations,
      countedLists: await listCounted(client, schema),
      tables,
      leftOut: (await listTables(client)).filter((name) => !names.includes(name) && !ownTables.has(name)),
      estimatedRows: await estimateRows(client, names),
      rows: (table) => readPostgresRows(client, table),
      close: () => client.end(),
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

async function findWhyEmpty(client: pg.Client, url: string): Promise<FatalError> {
  const { rows } = await client.query<{ schema: string | null }>('SELECT current_schema() AS schema')
  requireSchema(rows[0]?.schema, parsePostgresUrl(url).place)
  return new FatalError('the database has no tables yet: there is nothing to copy', exitCodes.badData)
}

const ownTables: ReadonlySet<string> = new Set([migrationTable, countTables.changes])

export type ArchiveConnection = Pick<OpenedClient, 'client' | 'isPooled'>

/** A connection whose values are the text that the server sends. */
export async function connectForArchive(url: string): Promise<ArchiveConnection> {
  const hosts = createHosts(url)
  try {
    const { client, isPooled } = await hosts.open({
      application_name: 'latchkey archive',
      types: { getTypeParser: () => (value: string) => value },
    } as pg.ClientConfig)
    return { client, isPooled }
  } catch (error) {
    const message = `cannot reach PostgreSQL at ${hosts.place}: ${errorMessage(error)}`
    throw new FatalError(message, exitCodes.unavailable, { cause: error })
  }
}

export async function beginForArchive(
  client: pg.Client,
  { isolation, lockTimeout = '60s' }: { isolation?: string; lockTimeout?: string } = {},
): Promise<void> {
  const more = { lock_timeout: lockTimeout, idle_in_transaction_session_timeout: '0' }
  for (const sql of beginStatements(more, isolation)) await client.query(sql)
}

export async function* readPostgresRows(client: pg.Client, table: Table): AsyncGenerator<readonly Row[]> {
  const types = await columnTypes(client, table.name)
  const read = table.columns.map(({ name }) => cellReader(types.get(name)?.type ?? 'text'))
  const columns = table.columns.map(({ name }) => quote(name)).join(', ')
  await client.query(`DECLARE archived NO SCROLL CURSOR FOR SELECT ${columns} ${await fromOf(client, table)}`)
  try {
    for (let isMore = true; isMore; ) {
      const fetched = await client.query<(string | null)[]>({
        text: `FETCH ${rowsAtOnce} FROM archived`,
        rowMode: 'array',
      })
      const rows = fetched.rows.map((row) =>
        row.map((value, i): Cell => (value === null ? null : (read[i] as (text: string) => Cell)(value))),
      )
      if (rows.length > 0) yield rows
      isMore = rows.length === rowsAtOnce
    }
  } finally {
    // Fails where the transaction has failed, whose error is the one to tell.
    await client.query('CLOSE archived').catch(() => {})
  }
}

/** Rows in the order of an integer key, which makes them quick to insert; in any order otherwise. */
async function fromOf(client: pg.Client, { name }: Table): Promise<string> {
  if (name === countTables.counts) return `FROM ${countTables.view} WHERE live <> 0`
  const { rows } = await client.query<{ name: string; type: string }>(keyColumns, [name])
  const [key] = rows
  const hasIntegerKey = rows.length === 1 && key !== undefined && kindOfType(key.type) === 'integer'
  return `FROM ${quote(name)}${hasIntegerKey ? ` ORDER BY ${quote(key.name)}` : ''}`
}

const inSchema = 'relnamespace = to_regnamespace(quote_ident(current_schema()))'

const keyColumns = `
  SELECT a.attname AS name, t.typname AS type
  FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.relname = $1 AND c.${inSchema}`

const columnsOfTable = `
  SELECT a.attname AS name, t.typname AS type, a.attidentity AS identity
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
  WHERE c.relname = $1 AND c.${inSchema} AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  ORDER BY a.attnum`

interface ColumnType {
  type: string
  isCounter: boolean
}

async function columnTypes(client: pg.Client, table: string): Promise<Map<string, ColumnType>> {
  const { rows } = await client.query<{ name: string; type: string; identity: string }>(columnsOfTable, [table])
  return new Map(rows.map(({ name, type, identity }) => [name, { type, isCounter: identity !== '' }]))
}

export async function describeTables(client: pg.Client, names: readonly string[]): Promise<Table[]> {
  const tables: Table[] = []
  for (const name of names) {
    const types = await columnTypes(client, name)
    const columns = [...types].map(([column, { type }]): Column => ({ name: column, kind: kindOfType(type) }))
    const counting = [...types].find(([, { isCounter }]) => isCounter)?.[0]
    const counter = counting === undefined ? undefined : await readCounter(client, name, counting)
    tables.push({ name, columns: inOrder(columns), counter })
  }
  return tables
}

async function readCounter(client: pg.Client, table: string, column: string): Promise<Table['counter']> {
  const { rows } = await client.query<{ sequence: string }>('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
    quote(table),
    column,
  ])
  const state = await client.query<{ last: string }>(
    `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM ${rows[0]?.sequence}`,
  )
  return { column, last: String(state.rows[0]?.last) }
}

/** Undefined where there is no table of migrations. */
export async function readApplied(client: pg.Client): Promise<AppliedRow[] | undefined> {
  const { rows: found } = await client.query<{ name: string | null }>('SELECT to_regclass($1) AS name', [
    migrationTable,
  ])
  if (found[0]?.name == null) return undefined
  return (await client.query<AppliedRow>(`SELECT name, checksum, applied_at FROM ${migrationTable} ORDER BY name`)).rows
}

export async function listTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND ${inSchema}
     AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY relname`,
  )
  return rows.map(({ name }) => name)
}

async function listCounted(client: pg.Client, { countedLists }: DeclaredSchema): Promise<string[]> {
  const query = async <Found extends object>(sql: string, params: string[] = []) =>
    (await client.query<Found>(sql, params)).rows
  const counted: string[] = []
  for (const list of countedLists) if (await isCounted({ dialect: 'postgres', query }, list)) counted.push(list)
  return counted
}

async function estimateRows(client: pg.Client, names: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ rows: string }>(
    `SELECT COALESCE(sum(GREATEST(reltuples, 0)), 0) AS rows FROM pg_class WHERE relname = ANY ($1) AND ${inSchema}`,
    [names],
  )
  return Math.round(Number(rows[0]?.rows))
}
