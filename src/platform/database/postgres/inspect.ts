/** Looks at a PostgreSQL server without changing anything. */
import type pg from 'pg'
import { withTimeout } from '../../../core/timeout.ts'
import type { AppliedMigration } from '../migrations.ts'
import type { TableQuestion, TableState } from '../table-state.ts'
import { createHosts } from './hosts.ts'
import { type Suitability, suitabilityQuery } from './session.ts'

export interface PostgresState {
  /** Such as 170002. */
  version: number
  suitability: Suitability
  settings: Readonly<Record<(typeof inspected)[number], string>>
  /** CONNECTION LIMIT of the role and of the database, if they have one. It does not hold for superusers. */
  connectionLimits: readonly ConnectionLimit[]
  isEncrypted: boolean
  /** Of the server, in milliseconds since 1970. */
  now: number
  /** Undefined in a new database. */
  applied: readonly AppliedMigration[] | undefined
}

export interface ConnectionLimit {
  kind: 'role' | 'database'
  name: string
  connections: number
}

const inspected = [
  'server_version_num',
  'max_connections',
  'superuser_reserved_connections',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
] as const

const limitsQuery = `SELECT kind, name, connections FROM (
    SELECT 'role' AS kind, rolname AS name, rolconnlimit AS connections FROM pg_roles WHERE rolname = session_user
    UNION ALL SELECT 'database', datname, datconnlimit FROM pg_database WHERE datname = current_database()
  ) AS limits
  WHERE connections >= 0 AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)`

const maxMs = 10_000

/** Rejects if the server cannot be reached. */
export async function inspectPostgres(url: string): Promise<PostgresState> {
  const { client } = await createHosts(url).open({ application_name: 'latchkey doctor' })
  try {
    return await withTimeout(inspect(client), maxMs)
  } finally {
    client.connection.stream.destroy()
  }
}

/** Rejects if the server cannot be reached. */
export async function inspectPostgresTable<Row extends object>(
  url: string,
  { table, sql }: TableQuestion,
): Promise<TableState<Row>> {
  const { client } = await createHosts(url).open({ application_name: 'latchkey doctor' })
  const look = async () => {
    const size = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes')
    const found = await hasTable(client, table)
    const rows = found ? (await client.query<Row>(sql)).rows : undefined
    return { rows, databaseBytes: Number(size.rows[0]?.bytes) }
  }
  try {
    return await withTimeout(look(), maxMs)
  } finally {
    client.connection.stream.destroy()
  }
}

async function hasTable(client: pg.Client, table: string): Promise<boolean> {
  return (await client.query('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [table])).rows.length > 0
}

async function inspect(client: pg.Client): Promise<PostgresState> {
  const settings = await client.query<{ name: (typeof inspected)[number]; value: string }>(
    'SELECT name, setting AS value FROM pg_settings WHERE name = ANY($1)',
    [inspected],
  )
  const values = Object.fromEntries(settings.rows.map(({ name, value }) => [name, value])) as PostgresState['settings']
  const suitability = await client.query<Suitability>(suitabilityQuery)
  const limits = await client.query<ConnectionLimit>(limitsQuery)
  const ssl = await client.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
  const now = await client.query<{ ms: string }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms')
  return {
    version: Number(values.server_version_num),
    suitability: suitability.rows[0] as Suitability,
    settings: values,
    connectionLimits: limits.rows,
    isEncrypted: ssl.rows[0]?.ssl ?? false,
    now: Number(now.rows[0]?.ms),
    applied: await findApplied(client),
  }
}

async function findApplied(client: pg.Client): Promise<AppliedMigration[] | undefined> {
  if (!(await hasTable(client, 'schema_migrations'))) return undefined
  const applied = await client.query<AppliedMigration>('SELECT name, checksum FROM schema_migrations ORDER BY name')
  return applied.rows
}
