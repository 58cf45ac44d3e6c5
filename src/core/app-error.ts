/** What ends a request on purpose: a status and a text that the client may read. Everything else is a 500. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly status: number
  /** Further fields of the answer's body: `details` or `locked_until`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(
    status: number,
    publicText: string,
    {
      extra,
      headers,
      cause,
    }: { extra?: Record<string, unknown>; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(publicText, { cause })
    this.status = status
    this.extra = extra
    this.headers = headers
  }
}
