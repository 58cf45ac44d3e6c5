/** Configures Fastify: limits, timeouts, request ids, logging, and errors before any hook runs. */
import type { IncomingMessage } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import type { Log } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HeadersFor } from './cors.ts'
import { LazyLog } from './lazy-log.ts'
import { createParserErrorHandler } from './parser-errors.ts'
import type { IsTrusted } from './proxies.ts'
import { createRequestIds } from './request-ids.ts'
import type { RequestTracing } from './request-tracing.ts'
import { isWebSocketUpgrade } from './upgrades.ts'

export interface FrameworkOptions {
  log: Log
  random: Random
  metrics: Metrics
  trustedProxies: readonly string[]
  /** Formats the body of parser errors, by path, where it differs from the default. */
  errorBodies: Readonly<Record<string, (error: AppError) => object>>
}

interface FrameworkDeps extends FrameworkOptions {
  isTrusted: IsTrusted
  headersFor: HeadersFor
  tracing: RequestTracing
  /** Called for paths that cannot be decoded, before any hook runs. */
  onUndecodable(error: Error, request: FastifyRequest, reply: FastifyReply): void
}

const maxBodyBytes = 1024 * 1024

export function createFramework(options: FrameworkDeps): FastifyInstance {
  const { log, metrics, tracing, isTrusted, headersFor } = options
  const requestIds = createRequestIds(options.random, isTrusted)
  return fastify({
    // With a logger, Fastify adds listeners to every response for its own log lines. Only request.log is used.
    logger: false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory(_none, bindings, _options, request) {
      const trace = tracing.begin(request as IncomingMessage)
      return new LazyLog(log, trace ? { ...bindings, ...trace } : bindings) as unknown as FastifyBaseLogger
    },
    genReqId: requestIds.of,
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length > 0 ? isTrusted : false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 30_000,
    // Longer than the 60 seconds of common proxies, so that they never reuse a connection while we close it.
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    frameworkErrors: options.onUndecodable,
    clientErrorHandler: createParserErrorHandler({
      createRequestId: requestIds.create,
      log,
      headersFor,
      bodyOf: (error, path = '') => options.errorBodies[path]?.(error) ?? { error: error.message },
      observe: (status) =>
        metrics.requestSeries({ method: 'any', route: 'unknown', status: String(status) }).observe(0),
    }),
    http: {
      // Checked in the first hook: Node's own 400 has no body.
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
      // Against slow headers (Slowloris). By default Node checks only every 30 seconds.
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1000,
    },
  }) as unknown as FastifyInstance
}
