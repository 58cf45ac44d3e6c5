import { serviceUnavailable } from '../../../core/app-error.ts'
import { ConstraintError, type ConstraintKind } from '../database.ts'

/** Names PostgreSQL's errors as the interface does. https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function fromPostgresError(error: unknown): Error {
  const kind = constraintKinds.get(codeOf(error))
  if (kind) return new ConstraintError(kind, { cause: error })
  return isConnectionError(error) || isOverloaded(codeOf(error)) ? serviceUnavailable(error) : (error as Error)
}

const constraintKinds: ReadonlyMap<string, ConstraintKind> = new Map([
  ['23502', 'not_null'],
  ['23503', 'foreign_key'],
  ['23505', 'unique'],
  ['23514', 'check'],
])

/** A deadlock's victim, or one of two that met: nothing of it was kept, so it may simply try again. */
export function isRetriable(error: unknown): boolean {
  return codeOf(error) === '40001' || codeOf(error) === '40P01'
}

/** The data were to blame. After anything else a connection may not be what it was: its plans outdated, its peer gone. */
export function leavesConnectionSound(error: unknown): boolean {
  return constraintKinds.has(codeOf(error)) || isRetriable(error)
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '')
}

/** A statement over its time (57014), or what refuses writes. */
function isOverloaded(code: string): boolean {
  return code === '57014' || isRefusal(code)
}

/** The server is out of resources, as of room on its disk, or has become read-only. */
export function refusesWrites(error: unknown): boolean {
  return isRefusal(codeOf(error))
}

/** Out of resources (class 53; 53100 is a full disk), read-only after a fail-over (25006). */
function isRefusal(code: string): boolean {
  return code.startsWith('53') || code === '25006'
}

/** A code of the socket, of the server on its way out (57P), or none at all: the pool's and the client's own errors. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/.test(code)) return true
  return code === '' && /connect|timeout|terminated/i.test(String(error))
}
