export type OutboundErrorCode = 'refused_address' | 'unresolved' | 'timeout' | 'connection' | 'tls' | 'aborted'

/** The request was not answered. The message is short and plain, and can be shown to whoever chose the URL. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly code: OutboundErrorCode

  constructor(code: OutboundErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
