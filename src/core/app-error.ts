/** What ends a request on purpose: a status and a text that the client may read. Everything else is a 500. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly status: number
  /** What programs know it by, such as `invalid_credentials`. It stays when the text changes. */
  readonly code: string
  /** Further fields of the answer's body: `details` or `locked_until`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly #isReported: boolean

  constructor(
    status: number,
    publicText: string,
    {
      code,
      extra,
      headers,
      cause,
      isReported = false,
    }: {
      /** By default the text in snake case. */
      code?: string
      extra?: Record<string, unknown>
      headers?: Record<string, string>
      cause?: unknown
      /** The log has a line of its own about the cause: it need not be told with every request. */
      isReported?: boolean
    } = {},
  ) {
    super(publicText, { cause })
    this.status = status
    this.code = code ?? toCode(publicText)
    this.extra = extra
    this.headers = headers
    this.#isReported = isReported
  }

  /** The cause, where the log is to tell it with the request. */
  get causeToLog(): unknown {
    return this.#isReported ? undefined : this.cause
  }
}

/** Whether it is the error of this code. */
export function isAppError(error: unknown, code: string): error is AppError {
  return error instanceof AppError && error.code === code
}

function toCode(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}

/** What is needed cannot be reached, has no room or is shutting down: the client may try again. */
export function serviceUnavailable(cause?: unknown, { isReported = false, retryAfterSeconds = 5 } = {}): AppError {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return new AppError(503, 'Service unavailable', { headers, cause, isReported })
}
