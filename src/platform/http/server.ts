/** The HTTP server with everything that holds for every route. Features add their routes to it. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { TObject } from 'typebox'
import { type GuardOptions, guardRoutes } from '../access/route-guards.ts'
import { serveDocs } from '../openapi/openapi.routes.ts'
import { compileBody, compileTexts } from '../validation/body-validation.ts'
import { admitRequests, createBegin } from './admission.ts'
import { readBodies } from './bodies.ts'
import { boundUrl } from './bound-url.ts'
import { createCorsHeaders, createOptionsAnswer } from './cors.ts'
import { createFramework, type FrameworkOptions } from './framework.ts'
import { addHealthRoutes, type HealthOptions } from './health.ts'
import { answerErrors, sendError } from './http-errors.ts'
import { describeListenError } from './listen-error.ts'
import { createLoadShedding } from './load-shedding.ts'
import { answerUnknownRoutes } from './not-found.ts'
import { createProxyTrust } from './proxies.ts'
import { logRequest, recordRequests } from './request-log.ts'
import { type SecurityOptions, securityHeaders } from './security-headers.ts'
import { cutOffUnread } from './unread-answers.ts'

export interface HttpOptions extends GuardOptions, SecurityOptions, HealthOptions, FrameworkOptions {
  corsOrigins: readonly string[]
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

const graceMs = 10_000

export async function createHttpServer(options: HttpOptions): Promise<HttpServer> {
  const { log, metrics } = options
  const isTrusted = createProxyTrust(options.trustedProxies)
  const headersFor = createCorsHeaders(options.corsOrigins, securityHeaders(options))
  const begin = createBegin(isTrusted, headersFor)
  const loadShedding = createLoadShedding(options.maxEventLoopDelayMs)
  let stopping = false
  const isStopping = () => stopping

  const app = createFramework({
    ...options,
    isTrusted,
    headersFor,
    onUndecodable(error, request, reply) {
      begin(request, reply)
      const isAnswered = answerOptions(request, reply)
      logRequest(request, isAnswered ? 204 : 404, 0)
      if (!isAnswered) sendError(error, request, reply)
    },
  })

  // Only "100-continue" means anything; a client that expects more is served without it.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  const { requirementsOf } = guardRoutes(app, options)
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'body' ? compileBody(schema as TObject) : compileTexts(schema as TObject),
  )
  answerErrors(app)
  const unknownRoutes = answerUnknownRoutes(app)
  const answerOptions = createOptionsAnswer(unknownRoutes)
  admitRequests(app, { begin, answerOptions, unknownRoutes, loadShedding, isStopping })
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
  recordRequests(app, { log, metrics, isStopping })
  await readBodies(app)
  serveDocs(app, { ...options, requirementsOf })
  addHealthRoutes(app, options)

  return {
    app,
    listen: (host, port) => listen(app, { host, port }),
    async close() {
      stopping = true
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
