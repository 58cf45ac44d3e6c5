import { serviceUnavailable } from '../../../core/app-error.ts'
import { ConstraintError, type ConstraintKind } from '../database.ts'

/** Maps SQLSTATE codes to errors of the interface. https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function fromPostgresError(error: unknown): Error {
  const kind = constraintKinds.get(codeOf(error))
  if (kind) return new ConstraintError(kind, { cause: error })
  return isConnectionError(error) || isOverloaded(codeOf(error)) ? serviceUnavailable(error) : (error as Error)
}

const constraintKinds: ReadonlyMap<string, ConstraintKind> = new Map([
  // ON DELETE RESTRICT, since PostgreSQL 18.
  ['23001', 'foreign_key'],
  ['23502', 'not_null'],
  ['23503', 'foreign_key'],
  ['23505', 'unique'],
  ['23514', 'check'],
])

/** Serialization failure or deadlock: the transaction was rolled back and can be retried. */
export function isRetriable(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}

/** Classes 22 and 23: a value or a constraint. The transaction was rolled back. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error))
}

/** True if only the data were at fault. After any other error, the connection may be broken or its cached plans stale. */
export function leavesConnectionUsable(error: unknown): boolean {
  return constraintKinds.has(codeOf(error)) || isRetriable(error)
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** 57014: statement timeout. */
function isOverloaded(code: string): boolean {
  return code === '57014' || isRefusal(code)
}

/** The server is out of resources, such as disk space, or has become read-only. */
export function refusesWrites(error: unknown): boolean {
  return isRefusal(codeOf(error))
}

export function isDiskFull(error: unknown): boolean {
  return codeOf(error) === '53100'
}

/** The session accepts no writes: a standby, or default_transaction_read_only. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === '25006'
}

/** As the server's own. */
export class ReadOnlyError extends Error {
  readonly code = '25006'
  constructor() {
    super('the database is read-only')
  }
}

/** A prepared statement is missing or exists already: a pooler has changed the server connection. */
export function isForeignStatement(error: unknown): boolean {
  return codeOf(error) === '26000' || codeOf(error) === '42P05'
}

/** Class 28: the user or the password is refused. */
export function isAccessRefused(error: unknown): boolean {
  return codeOf(error).startsWith('28')
}

const invalidPassword = '28P01'

export function isPasswordRefused(error: unknown): boolean {
  return codeOf(error) === invalidPassword
}

export class PasswordMissing extends Error {
  readonly code = invalidPassword
  constructor(cause: unknown) {
    const advice = 'add it, or put it into ~/.pgpass or PGPASSWORD'
    super(`the server asks for a password, and the URL has none: ${advice}`, { cause })
  }
}

/** Class 53: insufficient resources (53100: disk full). 25006: read-only, as after a fail-over. */
function isRefusal(code: string): boolean {
  return code.startsWith('53') || code === '25006'
}

/** Socket errors and 57P (shutdown). Errors of the pool and of the client have no code, only a text. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(code)) return true
  return code === '' && /connect|timeout|terminated/i.test(String(error))
}
