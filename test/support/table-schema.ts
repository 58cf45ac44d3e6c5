/** What a database has of a table and those that belong to it, in words that do not depend on how it came to have them. */
import type { Database } from '../../src/platform/database/database.ts'

/** Sorted lines: columns, indexes, triggers and functions. */
export async function readTableSchema(db: Database, table: string): Promise<string[]> {
  const lines = db.dialect === 'sqlite' ? await readSqlite(db, table) : await readPostgres(db, table)
  return lines.map((line) => line.replaceAll(/\s+/g, ' ').trim()).sort()
}

async function readSqlite(db: Database, table: string): Promise<string[]> {
  const found = await db.all<{ type: string; name: string; sql: string }>(
    `SELECT type, name, sql FROM sqlite_master WHERE (tbl_name = $1 OR substr(tbl_name, 1, length($1) + 2) = $1 || '__') AND sql IS NOT NULL`,
    [table],
  )
  return found.flatMap(({ type, name, sql }) => {
    const text = sql.replaceAll('"', '')
    if (type !== 'table') return [`${type} ${name}: ${text}`]
    const inside = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'))
    const rest = text.slice(text.lastIndexOf(')') + 1)
    // Not at the comma of a key of two columns.
    return [`table ${name}${rest}`, ...inside.split(/,(?![^(]*\))/).map((column) => `${name}: ${column}`)]
  })
}

/** Without the names of keys and constraints, which PostgreSQL makes up. */
async function readPostgres(db: Database, table: string): Promise<string[]> {
  const isOwn = (name: string) => `(${name} = $1 OR left(${name}, length($1) + 2) = $1 || '__')`
  const queries = [
    `SELECT concat_ws(' ', table_name, column_name, data_type, datetime_precision, collation_name, is_nullable, column_default,
      is_identity) AS line FROM information_schema.columns WHERE ${isOwn('table_name')}`,
    `SELECT CASE WHEN indexname LIKE '%pkey%' THEN tablename || regexp_replace(indexdef, '^.* USING', '') ELSE indexdef END AS line
      FROM pg_indexes WHERE ${isOwn('tablename')}`,
    `SELECT c.relname || ' ' || pg_get_constraintdef(k.oid) AS line FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      WHERE ${isOwn('c.relname')}`,
    `SELECT pg_get_triggerdef(t.oid) || ': ' || p.prosrc AS line FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal AND ${isOwn('c.relname')}`,
    `SELECT 'function ' || proname AS line FROM pg_proc WHERE ${isOwn("replace(proname, 'keep_', '')")} OR proname LIKE $1 || '\\_%'`,
  ]
  const found = await Promise.all(queries.map((sql) => db.all<{ line: string }>(sql, [table])))
  return found.flat().map(({ line }) => line)
}
