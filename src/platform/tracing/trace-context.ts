/** The position in a trace, as W3C Trace Context transports it: https://www.w3.org/TR/trace-context/ */

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the trace is recorded. */
  readonly isSampled: boolean
  /** Vendors' own data, passed on as it is. */
  readonly state?: string
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,512})?$/
const zeros = /^0+$/
const maxState = 512

/** Returns undefined for a header that is missing or invalid. */
export function parseTraceparent(header: unknown, state?: unknown): TraceContext | undefined {
  if (typeof header !== 'string') return undefined
  const [, version, traceId = '', spanId = '', flags = '', rest] = pattern.exec(header) ?? []
  if (version === undefined || version === 'ff' || zeros.test(traceId) || zeros.test(spanId)) return undefined
  // Later versions may append fields; this one has four.
  if (version === '00' && rest !== undefined) return undefined
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    ...(typeof state === 'string' && state !== '' && state.length <= maxState && { state }),
  }
}
