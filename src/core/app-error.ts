/** Ends a request with a status and a text that the client may read. Any other error is a 500. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly status: number
  /** Stable name for programs, such as `invalid_credentials`. It does not change with the text. */
  readonly code: string
  /** Further fields of the response body: `details` or `locked_until`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  /** Further fields for clients that accept problem details. */
  readonly problem: Readonly<Record<string, unknown>> | undefined
  /** What the text leaves out, for clients that accept problem details. */
  readonly reason: string | undefined
  readonly #isReported: boolean

  constructor(
    status: number,
    publicText: string,
    {
      code,
      extra,
      headers,
      reason,
      problem,
      cause,
      isReported = false,
    }: {
      /** Defaults to the text in snake case. */
      code?: string
      extra?: Record<string, unknown>
      headers?: Record<string, string>
      reason?: string
      problem?: Record<string, unknown>
      cause?: unknown
      /** The cause has been logged already and is left out of the request's log line. */
      isReported?: boolean
    } = {},
  ) {
    super(publicText, { cause })
    this.status = status
    this.code = code ?? toCode(publicText)
    this.extra = extra
    this.headers = headers
    this.reason = reason
    this.problem = problem
    this.#isReported = isReported
  }

  /** Undefined if the cause has been logged already. */
  get causeToLog(): unknown {
    return this.#isReported ? undefined : this.cause
  }
}

export function isAppError(error: unknown, code: string): error is AppError {
  return error instanceof AppError && error.code === code
}

function toCode(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}

/** A dependency is unreachable, overloaded or shutting down; the client may retry. */
export function serviceUnavailable(cause?: unknown, { isReported = false, retryAfterSeconds = 5 } = {}): AppError {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return new AppError(503, 'Service unavailable', { headers, cause, isReported })
}
