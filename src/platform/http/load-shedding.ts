/** Load shedding: when the event loop falls too far behind, a quick "try again" is kinder than a slow time-out. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyRequest } from 'fastify'
import { type AppError, serviceUnavailable } from '../../core/app-error.ts'

const sampleMs = 500
const resolutionMs = 10

export interface LoadShedding {
  /** The answer to give instead, while the event loop is too far behind. */
  refusalOf(request: FastifyRequest): AppError | undefined
  /** Call when the service begins to serve: the work of starting up must not count as load. */
  start(): void
  close(): void
}

/** `maxEventLoopDelayMs` of 0 means: never. */
export function createLoadShedding(maxEventLoopDelayMs: number): LoadShedding {
  if (maxEventLoopDelayMs === 0) return { refusalOf: () => undefined, start: () => {}, close: () => {} }
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  let isOverloaded = false
  let timer: NodeJS.Timeout | undefined
  return {
    refusalOf(request) {
      // Shedding load must not look like death, or the supervisor kills what is merely busy.
      if (!isOverloaded || request.url.startsWith('/health/live')) return undefined
      return serviceUnavailable(undefined, { retryAfterSeconds: 1 })
    },
    start() {
      delay.enable()
      timer = setInterval(() => {
        const meanMs = delay.mean / 1e6 - resolutionMs
        // Not one sample in all that time: the event loop stood still.
        isOverloaded = Number.isNaN(meanMs) || meanMs > maxEventLoopDelayMs
        delay.reset()
      }, sampleMs).unref()
    },
    close() {
      clearInterval(timer)
      delay.disable()
    },
  }
}
