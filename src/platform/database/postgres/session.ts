/**
 * What every connection to PostgreSQL sets for itself, whatever the role, the database or the server has as its default,
 * and what cannot be set: a database that does not have it is refused at start.
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
  // Compiling a plan takes longer than any of our queries.
  jit: 'off',
}

/**
 * The first statement of a connection; answers the `pid` of its server process. A statement, not parameters of the
 * connection: poolers such as PgBouncer refuse parameters that they do not know.
 */
export function sessionStatement(more: Readonly<Record<string, string>> = {}): string {
  const calls = Object.entries({ ...settings, ...more }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  )
  return `SELECT pg_backend_pid() AS pid, ${calls.join(', ')}`
}

export const suitabilityQuery = `SELECT current_setting('server_encoding') AS encoding, current_schema() AS schema,
  pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only`

export interface Suitability {
  encoding: string
  schema: string | null
  standby: boolean
  read_only: boolean
}

/** Throws what a person must change, in one line. */
export function requireSuitable({ encoding, schema, standby, read_only }: Suitability, url: string): void {
  const name = placeOf(url)
  if (encoding !== 'UTF8') {
    const advice = `create it with "ENCODING 'UTF8' TEMPLATE template0"`
    throw new FatalError(`the database ${name} is encoded in ${encoding}, not in UTF8: ${advice}`, exitCodes.badData)
  }
  if (standby) {
    throw new FatalError(`the PostgreSQL server of ${name} is a standby: name its primary`, exitCodes.unavailable)
  }
  if (read_only) {
    const advice = 'its server, the database or the role has default_transaction_read_only = on'
    throw new FatalError(`the database ${name} is read-only: ${advice}`, exitCodes.unavailable)
  }
  if (schema === null) {
    const advice = 'create one of them or change the search_path of the role or the database'
    throw new FatalError(
      `the search_path of the database ${name} names no schema that exists: ${advice}`,
      exitCodes.badData,
    )
  }
}

/** The host and the database, without the password that the URL may hold. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
