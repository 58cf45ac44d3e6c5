/**
 * Session settings of every connection, whatever the defaults of the role, the database or the server are. A database is
 * refused at start if it lacks what cannot be set per session.
 */
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'

const settings: Readonly<Record<string, string>> = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  statement_timeout: '0',
  // Compiling a plan takes longer than running any of our queries.
  jit: 'off',
}

/**
 * The first statement on a connection. Not sent as startup parameters, because poolers such as PgBouncer refuse unknown
 * ones.
 */
export function sessionStatement(more: Readonly<Record<string, string>> = {}): string {
  return `SELECT ${setAll({ ...settings, ...more }, 'session')}`
}

export type BeginStatements = readonly [begin: string, set: string]

/**
 * Two statements that begin a transaction with the same settings, for its duration only. Behind a pooler that shares
 * connections between transactions, settings of the session would be those of other clients. The second one returns the
 * `pid` of the server process.
 */
export function beginStatements(
  more: Readonly<Record<string, string>> = {},
  isolation = 'READ COMMITTED',
): BeginStatements {
  // The startup message has set the encoding, which a pooler keeps; BEGIN sets the isolation level.
  const { client_encoding, default_transaction_isolation, default_transaction_deferrable, ...others } = settings
  return [
    `BEGIN ISOLATION LEVEL ${isolation}`,
    `SELECT pg_backend_pid() AS pid, ${setAll({ ...others, ...more }, 'transaction')}`,
  ]
}

function setAll(values: Readonly<Record<string, string>>, scope: 'session' | 'transaction'): string {
  const isLocal = scope === 'transaction'
  return Object.entries(values)
    .map(([name, value]) => `set_config('${name}', '${value}', ${isLocal})`)
    .join(', ')
}

export const suitabilityQuery = `SELECT current_setting('server_encoding') AS encoding, current_schema() AS schema,
  pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only,
  has_schema_privilege(current_schema(), 'CREATE') AS can_create,
  'GRANT CREATE ON SCHEMA ' || quote_ident(current_schema()) || ' TO ' || quote_ident(current_user) AS grant_create`

export interface Suitability {
  encoding: string
  schema: string | null
  standby: boolean
  read_only: boolean
  /** Whether the role may create tables in the schema. PostgreSQL 15 and later let only the owner of a database do so. */
  can_create: boolean | null
  /** The statement that allows it. */
  grant_create: string | null
}

/** Throws one line that says what to change. */
export function requireSuitable(
  { encoding, schema, standby, read_only, can_create, grant_create }: Suitability,
  name: string,
  hasSeveralHosts: boolean,
): void {
  if (encoding !== 'UTF8') {
    const advice = `create it with "ENCODING 'UTF8' TEMPLATE template0"`
    throw new FatalError(`the database ${name} is encoded in ${encoding}, not in UTF8: ${advice}`, exitCodes.badData)
  }
  if (standby) {
    const advice = hasSeveralHosts ? 'add target_session_attrs=read-write to the URL' : 'name its primary'
    throw new FatalError(`the PostgreSQL server of ${name} is a standby: ${advice}`, exitCodes.unavailable)
  }
  if (read_only) {
    const advice = 'its server, the database or the role has default_transaction_read_only = on'
    throw new FatalError(`the database ${name} is read-only: ${advice}`, exitCodes.unavailable)
  }
  requireSchema(schema, name)
  if (!can_create) {
    const advice = `run ${grant_create} as the owner of the schema`
    throw new FatalError(`the role of ${name} may not create tables in its schema: ${advice}`, exitCodes.badData)
  }
}

/** `schema` is the first one of the search_path that exists and that the role may use. */
export function requireSchema(schema: string | null | undefined, name: string): void {
  if (schema != null) return
  const advice =
    'create one of them, GRANT USAGE on it to the role, or change the search_path of the role or the database'
  throw new FatalError(
    `the search_path of the database ${name} names no schema that exists and that the role may use: ${advice}`,
    exitCodes.badData,
  )
}
