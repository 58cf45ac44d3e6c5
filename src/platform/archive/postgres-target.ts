/** Fills a PostgreSQL database in one transaction. */
import pg from 'pg'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { parsePostgresUrl } from '../../core/postgres-url.ts'
import { countLists } from '../database/counted-lists.ts'
import { countTables } from '../database/maintained-counts.ts'
import { applyMigrations, type MigrationTransaction, readMigrations } from '../database/migrations.ts'
import { migrationLock } from '../database/postgres/migrate.ts'
import { requireSuitable, type Suitability, suitabilityQuery } from '../database/postgres/session.ts'
import { badArchive, type Row, type Table } from './content.ts'
import { removeForLoading } from './postgres-constraints.ts'
import { copyFrom } from './postgres-copy.ts'
import {
  beginForArchive,
  connectForArchive,
  describeTables,
  listTables,
  readApplied,
  readPostgresRows,
} from './postgres-snapshot.ts'
import { findUse } from './postgres-use.ts'
import { copyLine } from './postgres-values.ts'
import { migrationsOf, migrationTable, quote, tablesOf } from './schema.ts'
import { inUse, requireEmpty, type Target, type TargetOptions } from './target.ts'

export async function openPostgresTarget(url: string, options: TargetOptions): Promise<Target> {
  const { schema, clock } = options
  const { place, hosts } = parsePostgresUrl(url)
  const connection = await connectForArchive(url)
  const { client } = connection
  const transaction = createTransaction(client)
  let restore: () => Promise<void>
  let tables: Map<string, Table>
  try {
    requireSuitable(await readSuitability(client), place, hosts.length > 1)
    const use = await findUse(connection, schema.presenceTables)
    if (use !== undefined) throw inUse(place, `: ${use}`)
    await beginForArchive(client)
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    await client.query("SELECT set_config('maintenance_work_mem', '128MB', true)")
    await makeSchema(client, transaction, { ...options, place })
    const own = namesOf(options)
    const names = (await listTables(client)).filter((name) => own.has(name))
    tables = new Map((await describeTables(client, names)).map((table) => [table.name, table]))
    restore = await removeForLoading(client, [...names, countTables.changes])
  } catch (error) {
    await client.end()
    throw error
  }

  return {
    dialect: 'postgres',
    findTable: (name) => tables.get(name),
    async load(table, batches) {
      const columns = table.columns.map(({ name }) => quote(name)).join(', ')
      try {
        await copyFrom(client, `COPY ${quote(table.name)} (${columns}) FROM STDIN`, linesOf(batches))
      } catch (error) {
        throw describeCopyError(error, table)
      }
    },
    async complete(loaded) {
      for (const { name, counter } of loaded) {
        if (!counter) continue
        const next = BigInt(counter.last) + 1n
        await client.query(`ALTER TABLE ${quote(name)} ALTER COLUMN ${quote(counter.column)} RESTART WITH ${next}`)
      }
      await restore()
    },
    rows: (table) => readPostgresRows(client, table),
    async commit() {
      const applied = await applyMigrations(transaction, readMigrations(schema.migrations, 'postgres'), clock.nowIso())
      await countLists(transaction, schema.countedLists)
      // Nodes of the time of the archive are not there, and would hold up the next restore.
      for (const name of schema.presenceTables ?? []) await client.query(`DELETE FROM ${quote(name)}`)
      const own = await listOwnTables(client, options)
      await client.query('COMMIT')
      const unanalyzed = await analyze(client, own)
      await client.end()
      return { applied, unanalyzed }
    },
    // Closing rolls back an open transaction.
    discard: () => client.end(),
  }
}

async function readSuitability(client: pg.Client): Promise<Suitability> {
  // This connection leaves values as text, where 'f' would be taken for true.
  const { rows } = await client.query<Suitability>({ text: suitabilityQuery, types: pg.types })
  return rows[0] as Suitability
}

function namesOf({ schema, migrations }: TargetOptions): Set<string> {
  const names = migrations.map(({ name }) => name)
  return new Set(tablesOf(schema, names).map(({ name }) => name))
}

function createTransaction(client: pg.Client): MigrationTransaction {
  return {
    dialect: 'postgres',
    query: async <Found extends object>(sql: string, params: string[] = []) =>
      (await client.query<Found>(sql, params)).rows,
    script: async (sql) => void (await client.query(sql)),
  }
}

/** Brings the database to the schema of the content, from an earlier one or from nothing. */
async function makeSchema(
  client: pg.Client,
  transaction: MigrationTransaction,
  options: TargetOptions & { place: string },
): Promise<void> {
  const migrations = migrationsOf(options.schema, 'postgres', options.migrations)
  const wanted = new Set(migrations.map(({ name }) => name))
  const applied = await readApplied(client)
  const later = applied?.find(({ name }) => !wanted.has(name))
  requireEmpty(options.place, applied ? await tablesWithRows(client, options) : [], options.canReplace)
  if (later) {
    throw badArchive(
      `the schema of ${options.place} is newer than the archive's: it has migration ${later.name}. Restore into a new, empty database; it is then brought to this version`,
    )
  }
  await applyMigrations(transaction, migrations, options.clock.nowIso())
  await countLists(transaction, options.countedLists)
  for (const { name, appliedAt } of options.migrations) {
    await client.query(`UPDATE ${migrationTable} SET applied_at = $1 WHERE name = $2`, [appliedAt, name])
  }
}

/** The tables that hold more than what the migrations put in. Rows that expire by themselves do not count. */
async function tablesWithRows(client: pg.Client, { schema }: TargetOptions): Promise<string[]> {
  const names = readMigrations(schema.migrations, 'postgres').map(({ name }) => name)
  const fresh = tablesOf(schema, names).filter(({ name }) => !schema.expiringTables.includes(name))
  const present = new Set(await listTables(client))
  const filled: string[] = []
  for (const { name, rows } of fresh) {
    if (!present.has(name)) continue
    const { rowCount } = await client.query(`SELECT 1 FROM ${quote(name)} LIMIT ${rows + 1}`)
    if (rowCount === rows + 1) filled.push(name)
  }
  return filled
}

/** As of the version of the program. */
async function listOwnTables(client: pg.Client, { schema }: TargetOptions): Promise<string[]> {
  const names = readMigrations(schema.migrations, 'postgres').map(({ name }) => name)
  const own = new Set([...tablesOf(schema, names).map(({ name }) => name), migrationTable, countTables.changes])
  return (await listTables(client)).filter((name) => own.has(name))
}

/**
 * Without statistics, the first queries would be planned for empty tables. Everything is committed by now, so a failure
 * is only told: returns its reason.
 */
async function analyze(client: pg.Client, tables: readonly string[]): Promise<string | undefined> {
  try {
    await beginForArchive(client, { lockTimeout: '5s' })
    await client.query(`ANALYZE ${tables.map(quote).join(', ')}`)
    await client.query('COMMIT')
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}

async function* linesOf(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<string> {
  for await (const rows of batches) {
    let text = ''
    for (const row of rows) text += copyLine(row)
    yield text
  }
}

/** The server's errors say what is wrong with which column; other errors are passed on. */
function describeCopyError(error: unknown, { name }: Table): unknown {
  if (!(error instanceof Error) || !('severity' in error)) return error
  const { where } = error as { where?: string }
  const message = `table ${name} cannot be loaded: ${error.message}${where ? ` (${where})` : ''}. Nothing was changed`
  return new FatalError(message, exitCodes.badData, { cause: error })
}
