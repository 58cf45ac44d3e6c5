/**
 * Spans: named pieces of work with a beginning and an end, which together are the trace of a request. Parts of the service
 * are traced by wrapping them (traced-database.ts and others). Without OpenTelemetry nothing is wrapped, so that it costs
 * nothing.
 */
import type { TraceContext } from './trace-context.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

export interface SpanOptions {
  name: string
  kind?: SpanKind
  /** Never values of users: no parameters of statements, no variables, no query strings. */
  attributes?: Attributes
  /** By default the current span. */
  parent?: TraceContext | undefined
}

export interface Span {
  readonly context: TraceContext
  rename(name: string): void
  set(attributes: Attributes): void
  /** Marks it as failed. `type` is a status, a code or the name of an error class. */
  fail(type: string): void
  /** Later calls have no effect. */
  end(): void
}

export interface Tracing {
  start(options: SpanOptions): Span
  /** Runs `work`, and everything that it awaits, with the span as the current one. */
  run<T>(span: Span, work: () => T): T
  current(): Span | undefined
  /** A span around `work`, which fails if `work` rejects. */
  span<T>(options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>
}
