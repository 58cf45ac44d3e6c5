/** Removes what slows loading down or fires on it, and empties the tables; all of it in the caller's transaction. */
import type pg from 'pg'
import { quote } from './schema.ts'

interface Definition {
  table: string
  name: string
  definition: string
}

const ofTables = 'c.relname = ANY ($1) AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))'

/** Foreign keys are checked as a whole when they are added again; row by row would also need the right order of tables. */
const foreignKeys = `
  SELECT c.relname AS table, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype = 'f' AND ${ofTables}`

/** All indexes but those of primary keys and unique constraints. */
const plainIndexes = `
  SELECT c.relname AS table, x.relname AS name, pg_get_indexdef(i.indexrelid) AS definition
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
  WHERE ${ofTables} AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`

const present = `SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND ${ofTables}`

/** Returns the function that restores everything but the rows. */
export async function removeForLoading(client: pg.Client, names: readonly string[]): Promise<() => Promise<void>> {
  const { rows: tables } = await client.query<{ name: string }>(present, [names])
  const { rows: keys } = await client.query<Definition>(foreignKeys, [names])
  const { rows: indexes } = await client.query<Definition>(plainIndexes, [names])
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${quote(table)} DROP CONSTRAINT ${quote(name)}`)
  for (const { name } of indexes) await client.query(`DROP INDEX ${quote(name)}`)
  for (const { name } of tables) await client.query(`ALTER TABLE ${quote(name)} DISABLE TRIGGER USER`)
  await client.query(`TRUNCATE ${tables.map(({ name }) => quote(name)).join(', ')}`)

  return async () => {
    for (const { definition } of indexes) await client.query(definition)
    for (const { name } of tables) await client.query(`ALTER TABLE ${quote(name)} ENABLE TRIGGER USER`)
    for (const { table, name, definition } of keys) {
      await client.query(`ALTER TABLE ${quote(table)} ADD CONSTRAINT ${quote(name)} ${definition}`)
    }
  }
}
