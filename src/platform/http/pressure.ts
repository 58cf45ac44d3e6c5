/** Load shedding: when the event loop falls too far behind, a quick "try again" is kinder than a slow time-out. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/app-error.ts'

const sampleMs = 500
const resolutionMs = 10

/** `maxEventLoopDelayMs` of 0 means: never. */
export function shedLoad(app: FastifyInstance, maxEventLoopDelayMs: number): void {
  if (maxEventLoopDelayMs === 0) return
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let isOverloaded = false
  const timer = setInterval(() => {
    const meanMs = delay.mean / 1e6 - resolutionMs
    // Not one sample in all that time: the event loop stood still.
    isOverloaded = Number.isNaN(meanMs) || meanMs > maxEventLoopDelayMs
    delay.reset()
  }, sampleMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    delay.disable()
  })
  app.addHook('onRequest', (request, _reply, next) => {
    // Shedding load must not look like death, or the supervisor kills what is merely busy.
    if (isOverloaded && !request.url.startsWith('/health/live')) next(overloaded())
    else next()
  })
}

function overloaded(): AppError {
  return new AppError(503, 'Service unavailable', { headers: { 'retry-after': '1' } })
}
