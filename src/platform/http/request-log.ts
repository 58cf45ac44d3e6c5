/** One line and one sample for each request. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createTickBatcher } from '../../core/tick-batcher.ts'
import type { Log } from '../log/logger.ts'
import type { Series } from '../metrics/histogram.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { guarded } from './http-errors.ts'
import { pathOf } from './request-path.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** By the process's monotonic clock, in milliseconds. */
    startedAt: number
  }
  interface FastifyInstance {
    /** For an answer that is not sent by the framework; all others are recorded by themselves. */
    recordRequest(request: FastifyRequest, status: number): void
  }
}

export interface RecordOptions {
  log: Log
  metrics: Metrics
  isStopping(): boolean
}

/**
 * Before the answer goes out: waiting until it has gone costs two listeners for each request, a tenth of the
 * throughput of a small one.
 */
export function recordRequests(app: FastifyInstance, { log, metrics, isStopping }: RecordOptions): void {
  const isLogged = log.isLevelEnabled('info')
  const findSeries = createSeriesFinder(metrics)
  const sendTogether = createTickBatcher(process.nextTick)
  function record(request: FastifyRequest, status: number): void {
    const ms = performance.now() - request.startedAt
    findSeries(request, status).observe(ms / 1000)
    if (isLogged) logRequest(request, status, ms)
  }
  app.decorate('recordRequest', record)
  app.addHook('onSend', (request, reply, payload, next) => {
    record(request, reply.statusCode)
    // The connection is about to be closed: the client must not send its next request on it.
    if (isStopping()) reply.header('connection', 'close')
    sendTogether(() => guarded(request, reply, () => next(null, payload)))
  })
}

export function logRequest(request: FastifyRequest, status: number, ms: number): void {
  const { method, url, ip: address } = request
  const path = pathOf(url)
  // Which of a user's programs it was, nothing else would tell.
  const keyId = request.principal?.key?.id
  request.log.info(
    { method, path, status, ms: Math.round(ms * 10) / 10, address, ...(keyId !== undefined && { keyId }) },
    'request',
  )
}

/** A route's own object is the key, so that finding its series builds no text. */
function createSeriesFinder(metrics: Metrics): (request: FastifyRequest, status: number) => Series {
  const routes = new WeakMap<object, Map<number, Series>>()
  return (request, status) => {
    const { config, url: route = 'unknown' } = request.routeOptions
    let statuses = routes.get(config)
    if (!statuses) {
      statuses = new Map()
      routes.set(config, statuses)
    }
    let series = statuses.get(status)
    if (!series) {
      // Unknown routes share an object, and their methods are anybody's invention. What succeeds there is OPTIONS.
      const method = request.is404 ? (status === 204 ? 'OPTIONS' : 'any') : request.method
      series = metrics.requestSeries({ method, route, status: String(status) })
      statuses.set(status, series)
    }
    return series
  }
}
