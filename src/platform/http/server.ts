/** The HTTP server with everything that holds for every route. Features add their routes to it. */
import type { AddressInfo } from 'node:net'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { TObject } from 'typebox'
import type { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import { createTickBatcher } from '../../core/tick-batcher.ts'
import { type GuardOptions, guardRoutes } from '../access/route-guards.ts'
import type { Log } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { serveDocs } from '../openapi/openapi.routes.ts'
import { compileBody, compileTexts } from '../validation/body-validation.ts'
import { readBodies } from './bodies.ts'
import { boundUrl } from './bound-url.ts'
import { createCorsHeaders, createOptionsAnswer } from './cors.ts'
import { addHealthRoutes, type HealthOptions } from './health.ts'
import { hasValidHost } from './host-header.ts'
import { answerErrors, guarded, httpErrors, sendError } from './http-errors.ts'
import { LazyLog } from './lazy-log.ts'
import { describeListenError } from './listen-error.ts'
import { createLoadShedding } from './load-shedding.ts'
import { answerUnknownRoutes } from './not-found.ts'
import { createParserErrorHandler } from './parser-errors.ts'
import { createPipelineLimit } from './pipelining.ts'
import { createForwardedCleaner, createProxyTrust, createProxyWarning } from './proxies.ts'
import { createRequestIds } from './request-ids.ts'
import { logRequest, recordRequests } from './request-log.ts'
import { type SecurityOptions, securityHeaders } from './security-headers.ts'
import { cutOffUnread } from './unread-answers.ts'
import { isWebSocketUpgrade } from './upgrades.ts'

export interface HttpOptions extends GuardOptions, SecurityOptions, HealthOptions {
  log: Log
  random: Random
  metrics: Metrics
  trustedProxies: readonly string[]
  corsOrigins: readonly string[]
  /** Paths whose errors have a form of their own, also where the parser refuses a request before any route is found. */
  errorBodies: Readonly<Record<string, (error: AppError) => object>>
  port: number
  /** Of the service, as its description tells it. */
  version: string
  maxEventLoopDelayMs: number
  /** A client that leaves its answer unread for so long is cut off. */
  unreadSeconds: number
}

export interface HttpServer {
  app: FastifyInstance
  listen(host: string, port: number): Promise<string>
  /** Refuses what is new, lets what is under way end, cuts off what takes longer than ten seconds. */
  close(): Promise<void>
}

const maxBodyBytes = 1024 * 1024
const graceMs = 10_000

export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { log, metrics } = options
  const isTrusted = createProxyTrust(options.trustedProxies)
  const requestIds = createRequestIds(options.random, isTrusted)
  const headersFor = createCorsHeaders(options.corsOrigins, securityHeaders(options))
  const cleanForwardedFor = createForwardedCleaner(isTrusted)
  const warnOfProxies = createProxyWarning(isTrusted)
  const loadShedding = createLoadShedding(options.maxEventLoopDelayMs)
  const hasRoomInPipeline = createPipelineLimit()
  let isStopping = false

  /** What every request needs, also one that is refused before any hook runs. */
  function begin(request: FastifyRequest, reply: FastifyReply): void {
    request.startedAt = performance.now()
    reply.headers(headersFor(request.url, request.headers.origin)).header('x-request-id', request.id)
    warnOfProxies(request)
    cleanForwardedFor(request.raw)
  }

  const app = fastify({
    // Given a logger, the framework watches every answer for its own two lines. We log one, and only request.log.
    logger: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory: (_none, bindings) => new LazyLog(log, bindings) as unknown as FastifyBaseLogger,
    genReqId: requestIds.of,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? isTrusted : false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    // Longer than the 60 seconds for which common proxies keep theirs, so that they never race our close.
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    // A path that cannot be decoded is answered before any hook runs.
    frameworkErrors(error, request, reply) {
      begin(request, reply)
      const isAnswered = answerOptions(request, reply)
      logRequest(request, isAnswered ? 204 : 404, 0)
      if (!isAnswered) sendError(error, request, reply)
    },
    clientErrorHandler: createParserErrorHandler({
      createRequestId: requestIds.create,
      log,
      headersFor,
      bodyOf: (error, path = '') => options.errorBodies[path]?.(error) ?? { error: error.message },
      observe: (status) =>
        metrics.requestSeries({ method: 'any', route: 'unknown', status: String(status) }).observe(0),
    }),
    // Node would answer 400 by itself, without a body; the check is in our first hook.
    http: {
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
      // A head that is never finished is not waited for; Node looks for such connections every 30 seconds by itself.
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1000,
    },
  }) as unknown as FastifyInstance

  // Only "100-continue" means anything; a client that expects more is served without it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const { requirementsOf } = guardRoutes(app, options)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema as TObject) : compileTexts(schema as TObject),
  )
  answerErrors(app)
  const unknownRoutes = answerUnknownRoutes(app)
  const answerOptions = createOptionsAnswer(unknownRoutes)
  app.decorateRequest('startedAt', 0)
  // Requests that arrive in the same turn of the event loop are begun together, after all of them have been read.
  const beginInBatch = createTickBatcher(setImmediate)
  // One hook for all that every request needs: each further one costs as much as what it does.
  app.addHook('onRequest', (request, reply, next) => {
    begin(request, reply)
    if (!hasValidHost(request.raw)) next(httpErrors.malformedRequest())
    // Before load is shed: of a preflight that is refused, a page learns nothing at all.
    else if (request.is404 && answerOptions(request, reply)) return
    else if (isStopping || !hasRoomInPipeline(reply.raw)) next(httpErrors.unavailable())
    else {
      const refusal = loadShedding.refusalOf(request) ?? (request.is404 ? unknownRoutes.refusalOf(request) : undefined)
      beginInBatch(() => {
        // Whoever has hung up by now needs no answer.
        if (!request.socket.destroyed) guarded(request, reply, () => next(refusal))
      })
    }
  })
  const unread = cutOffUnread({
    server: app.server,
    seconds: options.unreadSeconds,
    onCutOff: ({ remoteAddress: address }) => log.info({ address }, 'a client stopped reading and was cut off'),
  })
  app.addHook('onListen', async () => loadShedding.start())
  app.addHook('onClose', async () => {
    loadShedding.close()
    unread.close()
  })
  recordRequests(app, { log, metrics, isStopping: () => isStopping })
  await readBodies(app)
  serveDocs(app, { ...options, requirementsOf })
  addHealthRoutes(app, options)

  return {
    app,
    listen: (host, port) => listen(app, { host, port }),
    async close() {
      isStopping = true
      // A connection becomes idle when its last answer is out, which may be after the server began to close.
      const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
      const cutOff = setTimeout(() => app.server.closeAllConnections(), graceMs)
      await app.close()
      clearInterval(sweep)
      clearTimeout(cutOff)
    },
  }
}

/** Returns the URL of the address that is bound. */
async function listen(app: FastifyInstance, place: { host: string; port: number }): Promise<string> {
  try {
    await app.listen(place)
    return boundUrl('http', app.server.address() as AddressInfo)
  } catch (error) {
    throw describeListenError(error, place)
  }
}
