/** Creates spans, and hands those that are recorded to `onEnd`. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Random } from '../../../core/random.ts'
import type { TraceContext } from '../trace-context.ts'
import type { Attributes, Span, SpanKind, SpanOptions, Tracing } from '../tracing.ts'
import type { Sample } from './sampler.ts'

export interface EndedSpan {
  context: TraceContext
  parentId: string | undefined
  name: string
  kind: SpanKind
  attributes: Attributes
  /** Milliseconds since 1970, with fractions. */
  startedAt: number
  endedAt: number
  hasFailed: boolean
}

export interface TracerOptions {
  random: Pick<Random, 'bytes'>
  sample: Sample
  onEnd(span: EndedSpan): void
}

export function createTracer({ random, sample, onEnd }: TracerOptions): Tracing {
  const storage = new AsyncLocalStorage<Span>()

  function start({
    name,
    kind = 'internal',
    attributes = {},
    parent = storage.getStore()?.context,
  }: SpanOptions): Span {
    const traceId = parent?.traceId ?? random.bytes(16).toString('hex')
    const context: TraceContext = {
      traceId,
      spanId: random.bytes(8).toString('hex'),
      isSampled: sample(traceId, parent),
      ...(parent?.state !== undefined && { state: parent.state }),
    }
    if (!context.isSampled) return new UnrecordedSpan(context)
    return new RecordedSpan({ context, parentId: parent?.spanId, name, kind, attributes }, onEnd)
  }

  const run = <T>(span: Span, work: () => T): T => storage.run(span, work)

  return {
    start,
    run,
    current: () => storage.getStore(),
    async span(options, work) {
      const span = start(options)
      try {
        return await run(span, () => work(span))
      } catch (error) {
        span.fail(error instanceof Error ? error.name : 'Error')
        throw error
      } finally {
        span.end()
      }
    },
  }
}

class UnrecordedSpan implements Span {
  readonly context: TraceContext

  constructor(context: TraceContext) {
    this.context = context
  }

  rename(): void {}
  set(): void {}
  fail(): void {}
  end(): void {}
}

class RecordedSpan implements Span {
  readonly #span: EndedSpan
  readonly #onEnd: (span: EndedSpan) => void
  #hasEnded = false

  constructor(
    span: Pick<EndedSpan, 'context' | 'parentId' | 'name' | 'kind' | 'attributes'>,
    onEnd: (span: EndedSpan) => void,
  ) {
    this.#span = { ...span, startedAt: preciseNow(), endedAt: 0, hasFailed: false }
    this.#onEnd = onEnd
  }

  get context(): TraceContext {
    return this.#span.context
  }

  rename(name: string): void {
    this.#span.name = name
  }

  set(attributes: Attributes): void {
    this.#span.attributes = { ...this.#span.attributes, ...attributes }
  }

  fail(type: string): void {
    this.#span.hasFailed = true
    this.set({ 'error.type': type })
  }

  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#span.endedAt = preciseNow()
    this.#onEnd(this.#span)
  }
}

/** Not the service's clock, which tests move: durations must be true. */
function preciseNow(): number {
  return performance.timeOrigin + performance.now()
}
