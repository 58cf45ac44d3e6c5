/** Sheds load: while the event loop lags too far behind, requests get an immediate 503 instead of a late timeout. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import { type AppError, serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'

const sampleMs = 500
const resolutionMs = 10
/** An overload can come and go with every sample. */
const warnEveryMs = 10_000

export interface LoadShedding {
  /** Returns an error while the event loop lags too far behind. */
  refusalOf(request: FastifyRequest): AppError | undefined
  /** Call when the server is listening: the start-up must not count as load. */
  start(): void
  close(): void
}

/** `maxEventLoopDelayMs` of 0 disables it. */
export function createLoadShedding(maxEventLoopDelayMs: number, log: Pick<Log, 'warn'>): LoadShedding {
  if (maxEventLoopDelayMs === 0) return { refusalOf: () => undefined, start: () => {}, close: () => {} }
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  let isOverloaded = false
  let sampledAt = 0
  let warnedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function warn(delayMs: number): void {
    if (performance.now() - warnedAt < warnEveryMs) return
    warnedAt = performance.now()
    log.warn(
      { delayMs: Math.round(delayMs), maxDelayMs: maxEventLoopDelayMs },
      'the event loop is overloaded: requests get 503 (server.max_event_loop_delay_ms)',
    )
  }

  return {
    refusalOf(request) {
      // Liveness must succeed under load, or the supervisor restarts a process that is merely busy.
      if (!isOverloaded || request.url.startsWith('/health/live')) return undefined
      return serviceUnavailable(undefined, { retryAfterSeconds: 1 })
    },
    start() {
      delay.enable()
      sampledAt = performance.now()
      timer = setInterval(() => {
        const sampledMs = performance.now() - sampledAt
        sampledAt += sampledMs
        const meanMs = delay.mean / 1e6 - resolutionMs
        // NaN: no sample, because the event loop was blocked all the time.
        const delayMs = Number.isNaN(meanMs) ? sampledMs : meanMs
        isOverloaded = delayMs > maxEventLoopDelayMs
        if (isOverloaded) warn(delayMs)
        delay.reset()
      }, sampleMs).unref()
    },
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
