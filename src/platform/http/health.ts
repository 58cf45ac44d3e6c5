/** Liveness, readiness and metrics. */
import { hash, timingSafeEqual } from 'node:crypto'
import { BlockList } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireBearer } from '../access/route-guards.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { docs } from './health.docs.ts'
import { httpErrors } from './http-errors.ts'
import { isForwarded } from './proxies.ts'
import type { Readiness } from './readiness.ts'

export interface HealthOptions {
  metrics: Metrics
  /** The page for Prometheus. */
  printMetrics(): Promise<string>
  metricsToken: string | undefined
  /** In production `/metrics` requires a token: behind a proxy every client would seem local. */
  isDevelopment: boolean
  readiness: Readiness
}

export function addHealthRoutes(app: FastifyInstance, options: HealthOptions): void {
  const { metrics, printMetrics, metricsToken, isDevelopment, readiness } = options
  const access = 'public'

  const live = async () => ({ status: 'ok' })
  app.get('/health/live', { config: { access, docs: docs.live } }, live)

  async function ready() {
    const degraded = await readiness.check().catch(() => {
      throw httpErrors.unavailable()
    })
    return degraded.length === 0 ? { status: 'ok' } : { status: 'ok', degraded }
  }
  app.get('/health/ready', { config: { access, docs: docs.ready } }, ready)

  // HAProxy's `option httpchk` sends OPTIONS, to `/` by default, and expects a success status.
  app.options('/health/live', { config: { access, docs: false } }, live)
  for (const path of ['/health/ready', '/']) app.options(path, { config: { access, docs: false } }, ready)

  if (metricsToken === undefined && !isDevelopment) return
  app.get('/metrics', { config: { access, docs: docs.metrics } }, async (request, reply) => {
    requireMetricsAccess(request, metricsToken)
    return reply.type(metrics.contentType).send(await printMetrics())
  })
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

function requireMetricsAccess(request: FastifyRequest, token: string | undefined): void {
  if (token !== undefined) {
    if (!isSameSecret(requireBearer(request), token)) throw httpErrors.invalidToken()
    return
  }
  // A proxy on this machine is a loopback peer too, but its clients may be anywhere.
  const { remoteAddress = '' } = request.socket
  const isLocal = loopback.check(remoteAddress, remoteAddress.includes(':') ? 'ipv6' : 'ipv4')
  if (!isLocal || isForwarded(request.headers)) throw httpErrors.forbidden()
}

/** Compares digests, in constant time for any lengths. */
function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
