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
 * The first statement on a connection; returns the `pid` of its server process. Not sent as startup parameters, because
 * poolers such as PgBouncer refuse unknown ones.
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

/** Throws one line that says what to change. */
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

/** Host and database for messages, without the credentials in the URL. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}
