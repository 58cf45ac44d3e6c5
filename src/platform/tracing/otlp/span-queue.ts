/** Collects ended spans and sends them in batches. When it is full, further spans are dropped. */
import type { Log } from '../../log/logger.ts'
import type { EndedSpan } from './tracer.ts'

export interface SpanQueueOptions {
  everyMs: number
  log: Pick<Log, 'warn'>
  send(spans: readonly EndedSpan[]): Promise<void>
}

export interface SpanQueue {
  add(span: EndedSpan): void
  /** Sends what is left. */
  close(): Promise<void>
}

const maxWaiting = 2048
const batchSize = 512

export function createSpanQueue({ everyMs, log, send }: SpanQueueOptions): SpanQueue {
  let waiting: EndedSpan[] = []
  let dropped = 0
  let sending: Promise<void> | undefined
  const timer = setInterval(flush, everyMs).unref()

  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
    return sending
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      await send(batch)
    }
    if (dropped > 0) log.warn({ dropped }, 'spans were dropped: the OpenTelemetry collector is too slow, or away')
    dropped = 0
  }

  return {
    add(span) {
      if (waiting.length >= maxWaiting) dropped += 1
      else if (waiting.push(span) >= batchSize) void flush()
    },
    async close() {
      clearInterval(timer)
      // A batch may be on its way; what was added since follows.
      await flush()
      await flush()
    },
  }
}
