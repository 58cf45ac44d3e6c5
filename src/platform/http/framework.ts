/** Fastify as we set it up: limits, time-outs, request ids, the log, and what is refused before any hook runs. */
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
import { isWebSocketUpgrade } from './upgrades.ts'

export interface FrameworkOptions {
  log: Log
  random: Random
  metrics: Metrics
  trustedProxies: readonly string[]
  /** Paths whose errors have a form of their own, also where the parser refuses a request before any route is found. */
  errorBodies: Readonly<Record<string, (error: AppError) => object>>
}

interface FrameworkDeps extends FrameworkOptions {
  isTrusted: IsTrusted
  headersFor: HeadersFor
  /** A path that cannot be decoded is answered before any hook runs. */
  onUndecodable(error: Error, request: FastifyRequest, reply: FastifyReply): void
}

const maxBodyBytes = 1024 * 1024

export function createFramework(options: FrameworkDeps): FastifyInstance {
  const { log, metrics, isTrusted, headersFor } = options
  const requestIds = createRequestIds(options.random, isTrusted)
  return fastify({
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
    frameworkErrors: options.onUndecodable,
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
}
