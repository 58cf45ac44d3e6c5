/** Sends to the collector over HTTP. Never rejects: a collector that is away must not matter to the service. */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '../../../core/error-message.ts'
import type { Log } from '../../log/logger.ts'

export interface SenderOptions {
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  /** 1: sends once. Otherwise it tries again after failures that may pass. */
  attempts: number
  log: Pick<Log, 'warn' | 'info'>
  /** A number from 0 to 1. */
  random(): number
}

export interface Sender {
  send(body: string): Promise<void>
  /** Ends waits and requests in progress after so long. */
  endWithin(ms: number): void
}

/** https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes */
const passingStatuses = [429, 502, 503, 504]
const firstWaitMs = 1000
const maxWaitMs = 30_000

export function createSender({ url, headers, timeoutMs, attempts, log, random }: SenderOptions): Sender {
  const ending = new AbortController()
  let isUp = true

  /** Logged when it changes, not for each request. */
  function note(problem: string | undefined): void {
    if (problem !== undefined && isUp) log.warn({ url, problem }, 'the OpenTelemetry collector does not accept data')
    if (problem === undefined && !isUp) log.info({ url }, 'the OpenTelemetry collector accepts data again')
    isUp = problem === undefined
  }

  /** Returns how long to wait before the next attempt, or undefined if there should be none. */
  async function post(body: string, attempt: number): Promise<number | undefined> {
    const backOffMs = Math.min(maxWaitMs, firstWaitMs * 2 ** (attempt - 1)) * (0.5 + random() / 2)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([ending.signal, AbortSignal.timeout(timeoutMs)]),
      })
      await response.body?.cancel()
      note(response.ok ? undefined : `status ${response.status}`)
      if (response.ok || !passingStatuses.includes(response.status)) return undefined
      const askedMs = Number(response.headers.get('retry-after') ?? Number.NaN) * 1000
      return askedMs >= 0 ? Math.min(maxWaitMs, askedMs) : backOffMs
    } catch (error) {
      const { cause } = error as Error
      note(errorMessage(cause ?? error))
      return backOffMs
    }
  }

  return {
    async send(body) {
      for (let attempt = 1; attempt <= attempts && !ending.signal.aborted; attempt++) {
        const waitMs = await post(body, attempt)
        if (waitMs === undefined || attempt === attempts) return
        await sleep(waitMs, undefined, { signal: ending.signal, ref: false }).catch(() => {})
      }
    },
    endWithin(ms) {
      setTimeout(() => ending.abort(), ms).unref()
    },
  }
}
