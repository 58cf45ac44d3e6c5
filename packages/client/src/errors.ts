import type { SessionEnd } from './storage/storage.ts'

/** What the service answers with an error, or that it could not be reached (`status` 0). */
export class LatchkeyError extends Error {
  override name = 'LatchkeyError'
  readonly status: number
  /** What is wrong, by field. */
  readonly details: Readonly<Record<string, readonly string[]>> | undefined
  /** Until when an account is locked, in Unix seconds. */
  readonly lockedUntil: number | undefined
  /** After how many seconds a request may be sent again, if the service says so. */
  readonly retryAfter: number | undefined
  /** For the service's log. */
  readonly requestId: string | undefined

  constructor(message: string, { status, body, headers, cause }: ErrorParts) {
    super(message, cause === undefined ? undefined : { cause })
    const { details, locked_until } = (body ?? {}) as { details?: LatchkeyError['details']; locked_until?: number }
    this.status = status
    this.details = details
    this.lockedUntil = locked_until
    this.retryAfter = retryAfterOf(headers)
    this.requestId = headers?.get('x-request-id') ?? undefined
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return isTemporary(this.status)
  }
}

interface ErrorParts {
  status: number
  body?: unknown
  headers?: Headers
  cause?: unknown
}

/** The session that a request was to be sent with is over. `end` says why. */
export class SessionEndedError extends LatchkeyError {
  override name = 'SessionEndedError'
  readonly end: SessionEnd

  constructor(end: SessionEnd) {
    super(`The session has ended: ${end.reason}`, { status: 401 })
    this.end = end
  }
}

/** The change log no longer has the entry of this cursor. List the products again and go on from the cursor of the list. */
export class CursorExpiredError extends LatchkeyError {
  override name = 'CursorExpiredError'
}

/** Errors of a GraphQL response. */
export class GraphQLRequestError extends Error {
  override name = 'GraphQLRequestError'
  readonly errors: readonly GraphQLErrorEntry[]
  /** What was answered beside them. */
  readonly data: unknown

  constructor(errors: readonly GraphQLErrorEntry[], data?: unknown) {
    super(errors.map(({ message }) => message).join('\n') || 'The request failed')
    this.errors = errors
    this.data = data
  }
}

export interface GraphQLErrorEntry {
  message: string
  path?: readonly (string | number)[]
  extensions?: { code?: string; details?: Record<string, string[]> }
}

export const unreachable = (cause?: unknown) => new LatchkeyError('The service cannot be reached', { status: 0, cause })

export function errorOf(response: Response, body: unknown): LatchkeyError {
  const { error } = (body ?? {}) as { error?: unknown }
  const message = typeof error === 'string' ? error : `The service answered with status ${response.status}`
  const Kind = response.status === 410 ? CursorExpiredError : LatchkeyError
  return new Kind(message, { status: response.status, body, headers: response.headers })
}

export function isTemporary(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}

export function retryAfterOf(headers: Headers | undefined): number | undefined {
  const seconds = Number.parseInt(headers?.get('retry-after') ?? '', 10)
  return Number.isNaN(seconds) ? undefined : seconds
}
