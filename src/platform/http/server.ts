/** The HTTP server with everything that applies to all routes. Features add their own. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { TObject } from 'typebox'
import type { LiveAccess } from '../access/live-access.ts'
import { createLongRequests } from '../access/long-requests.ts'
import { type GuardOptions, guardRoutes } from '../access/route-guards.ts'
import { serveDocs } from '../openapi/openapi.routes.ts'
import { stopTimesOf } from '../process/stop-times.ts'
import type { ProcessParts } from '../threads/process-parts.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { compileBody, compileTexts } from '../validation/body-validation.ts'
import { admitRequests, createRequestInitializer } from './admission.ts'
import { readBodies } from './bodies.ts'
import { boundUrl } from './bound-url.ts'
import { createClosing } from './closing.ts'
import { createCorsHeaders, createOptionsHandler } from './cors.ts'
import { createFramework, type FrameworkOptions } from './framework.ts'
import { addHealthRoutes, type HealthOptions } from './health.ts'
import { handleErrors, sendError } from './http-errors.ts'
import { createInFlight } from './in-flight.ts'
import { describeListenError, type ListenTarget } from './listen-error.ts'
import { createLoadShedding } from './load-shedding.ts'
import { handleUnknownRoutes } from './not-found.ts'
import { createProxyTrust } from './proxies.ts'
import { logRequest, recordRequests } from './request-log.ts'
import { createRequestTracing } from './request-tracing.ts'
import { nameRoutes } from './route-pattern.ts'
import { type SecurityOptions, securityHeaders } from './security-headers.ts'
import { disconnectSlowReaders } from './slow-readers.ts'

export interface HttpOptions extends GuardOptions, SecurityOptions, HealthOptions, FrameworkOptions {
  /** Undefined without OpenTelemetry. */
  tracing: Tracing | undefined
  liveAccess: Pick<LiveAccess, 'watch'>
  corsOrigins: readonly string[]
  port: number
  /** The service's version, for the OpenAPI document. */
  version: string
  maxEventLoopDelayMs: number
  /** Clients that leave a response unread for longer are disconnected. */
  unreadSeconds: number
  drainSeconds: number
  claimOnce: ProcessParts['claimOnce']
  /** Called before any route is added. */
  beforeRoutes(app: FastifyInstance): void
}

export interface HttpServer {
  app: FastifyInstance
  listen(target: ListenTarget): Promise<string>
  /** From now on responses carry `Connection: close`. Everything is still served. */
  drain(): void
  /** Refuses new connections. The open ones are still served. */
  stopListening(): Promise<void>
  /** Waits for running requests; see `StopTimes`. */
  close(): Promise<void>
  /** Ends all connections, so that `close` need not wait for them. */
  cutOff(): void
}

export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { log, metrics } = options
  const isTrusted = createProxyTrust(options.trustedProxies)
  const headersFor = createCorsHeaders(options.corsOrigins, securityHeaders(options))
  const initialize = createRequestInitializer(isTrusted, headersFor, options.claimOnce)
  const inFlight = createInFlight()
  metrics.addGauge({
    name: 'http_requests_in_flight',
    help: 'Requests without a response yet, the scrape itself included.',
    read: inFlight.count,
  })
  const loadShedding = createLoadShedding(options.maxEventLoopDelayMs, log)
  const tracing = createRequestTracing(options.tracing)

  const app = createFramework({
    ...options,
    isTrusted,
    headersFor,
    tracing,
    onUndecodable(error, request, reply) {
      initialize(request, reply)
      const isHandled = handleOptions(request, reply)
      const status = isHandled ? 204 : 404
      tracing.end(request, status)
      logRequest(request, status, 0)
      if (!isHandled) sendError(error, request, reply)
    },
  })

  options.beforeRoutes(app)
  const closing = createClosing(app.server, stopTimesOf(options.drainSeconds))
  app.decorate('onDrain', closing.onDrain)
  // RFC 9110, 10.1.1 defines only "100-continue"; other expectations are ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  nameRoutes(app)
  const { requirementsOf, guardOf } = guardRoutes(app, options)
  const longRequests = createLongRequests({ liveAccess: options.liveAccess, requests: inFlight.all, guardOf })
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema as TObject) : compileTexts(schema as TObject),
  )
  handleErrors(app)
  const unknownRoutes = handleUnknownRoutes(app)
  const handleOptions = createOptionsHandler(unknownRoutes)
  admitRequests(app, { initialize, handleOptions, unknownRoutes, loadShedding, inFlight, closing })
  tracing.addHooks(app)
  const slowReaders = disconnectSlowReaders({
    server: app.server,
    seconds: options.unreadSeconds,
    onDisconnect: ({ remoteAddress: address }) => log.info({ address }, 'a client stopped reading and was cut off'),
  })
  app.addHook('onListen', async () => loadShedding.start())
  app.addHook('onClose', async () => {
    loadShedding.close()
    slowReaders.close()
    longRequests.close()
  })
  recordRequests(app, {
    log,
    metrics,
    inFlight,
    tracing,
    isDraining: closing.isDraining,
    onStream: longRequests.addStream,
  })
  await readBodies(app)
  serveDocs(app, { ...options, requirementsOf })
  addHealthRoutes(app, options)

  return {
    app,
    listen: (target) => listen(app, target),
    drain: closing.drain,
    stopListening: closing.stopListening,
    close: () => closing.close(() => app.close()),
    cutOff: closing.cutOff,
  }
}

/** Returns the URL of the bound address. */
async function listen(app: FastifyInstance, target: ListenTarget): Promise<string> {
  try {
    await app.listen(target)
    return boundUrl('http', app.server.address() as AddressInfo)
  } catch (error) {
    throw describeListenError(error, target)
  }
}
