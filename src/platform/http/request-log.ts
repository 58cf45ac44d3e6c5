/** One log line and one metrics sample per request. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createTickBatcher } from '../../core/tick-batcher.ts'
import type { Log } from '../log/logger.ts'
import type { Series } from '../metrics/histogram.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RecentRoute } from '../metrics/recent-requests.ts'
import { guarded } from './http-errors.ts'
import type { InFlight } from './in-flight.ts'
import { recordedPathOf } from './request-path.ts'
import type { RequestTracing } from './request-tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** `performance.now()` when the request arrived. */
    startedAt: number
  }
  interface FastifyInstance {
    /** For hijacked replies; all others are recorded automatically. */
    recordRequest(request: FastifyRequest, reply: FastifyReply, status: number): void
  }
}

export interface RecordOptions {
  log: Log
  metrics: Metrics
  inFlight: InFlight
  tracing: Pick<RequestTracing, 'end'>
  /** Whether the client must not reuse its connection. */
  isDraining(): boolean
  /** Called for a response that is sent over time. */
  onStream(request: FastifyRequest, reply: FastifyReply): void
}

/**
 * Records before the response is sent: waiting for its end takes two listeners per request, which costs a tenth of the
 * throughput of small responses.
 */
export function recordRequests(
  app: FastifyInstance,
  { log, metrics, inFlight, tracing, isDraining, onStream }: RecordOptions,
): void {
  const findSeries = createSeriesFinder(metrics)
  const sendInBatch = createTickBatcher(process.nextTick)
  function record(request: FastifyRequest, status: number): void {
    inFlight.end(request)
    tracing.end(request, status)
    const now = performance.now()
    const ms = now - request.startedAt
    const { series, recent } = findSeries(request, status)
    series.observe(ms / 1000)
    recent.observe(now, ms, status >= 500)
    // The level may change: a serving thread says little while it starts.
    if (log.isLevelEnabled('info')) logRequest(request, status, ms)
  }
  app.decorate('recordRequest', (request, reply, status) => {
    record(request, status)
    onStream(request, reply)
  })
  app.addHook('onSend', (request, reply, payload, next) => {
    record(request, reply.statusCode)
    if (payload instanceof Readable) onStream(request, reply)
    // Again, for requests that began before.
    if (isDraining()) reply.header('connection', 'close')
    sendInBatch(() => guarded(request, reply, () => next(null, payload)))
  })
}

export function logRequest(request: FastifyRequest, status: number, ms: number): void {
  const { method, url, ip: address } = request
  const path = recordedPathOf(url)
  // Which of a user's programs it was, nothing else would tell.
  const keyId = request.principal?.key?.id
  request.log.info(
    { method, path, status, ms: Math.round(ms * 10) / 10, address, ...(keyId !== undefined && { keyId }) },
    'request',
  )
}

interface Recorded {
  series: Series
  recent: RecentRoute
}

/** Keyed by the route's config object, so that no string is built per request. */
function createSeriesFinder(metrics: Metrics): (request: FastifyRequest, status: number) => Recorded {
  const routes = new WeakMap<object, Map<number, Recorded>>()
  return (request, status) => {
    const { config } = request.routeOptions
    let statuses = routes.get(config)
    if (!statuses) {
      statuses = new Map()
      routes.set(config, statuses)
    }
    let recorded = statuses.get(status)
    if (!recorded) {
      const route = config.pattern ?? 'unknown'
      // Unknown routes share one config, and clients choose their methods, which must not become labels. Only OPTIONS
      // succeeds there.
      const method = request.is404 ? (status === 204 ? 'OPTIONS' : 'any') : request.method
      recorded = {
        series: metrics.requestSeries({ method, route, status: String(status) }),
        recent: metrics.recent.route({ method, route }),
      }
      statuses.set(status, recorded)
    }
    return recorded
  }
}
