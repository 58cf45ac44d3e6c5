/** The whole service: infrastructure, features and servers. */

import type { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { readVersion } from '../config/version.ts'
import { once } from '../core/once.ts'
import type { LiveAccess } from '../platform/access/live-access.ts'
import type { Authenticate } from '../platform/access/route-guards.ts'
import type { Feature, TerminalLink } from '../platform/feature.ts'
import type { Engine } from '../platform/graphql/execution/engine.types.ts'
import { formatAppError } from '../platform/graphql/execution/graphql-errors.ts'
import { graphqlPath } from '../platform/graphql/http/graphql.routes.ts'
import type { Sockets } from '../platform/graphql/websocket/upgrade-server.ts'
import { reachableUrl } from '../platform/http/bound-url.ts'
import { createHttpServer } from '../platform/http/server.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { RecentRequests } from '../platform/metrics/recent-requests.ts'
import { addConsole } from './console.ts'
import { addServiceGauges } from './gauges.ts'
import type { OpenInfrastructure } from './infrastructure.ts'
import { openService, type ServiceOptions } from './open-service.ts'
import { requireUniqueRoutes } from './route-owners.ts'
import { createSocketParts } from './sockets.ts'
import { addStorageGauges } from './storage-gauges.ts'

export interface AppOptions extends ServiceOptions {
  /** Called before the service listens. For tests and benchmarks; to extend the service, write a feature. */
  onCreated?: OnCreated
}

export type OnCreated = (app: FastifyInstance, parts: Parts) => void | Promise<void>

export interface Parts extends Pick<OpenInfrastructure, 'db' | 'events' | 'topics' | 'changes'> {
  engine: Engine
  /** Serves the console's WebSocket. */
  consoleEngine: Engine
  sockets: Sockets
  liveAccess: LiveAccess
  authenticate: Authenticate
  collectMetrics: Metrics['collect']
  readRecentRequests: RecentRequests['read']
  /** What the feature's `create` returned. */
  serviceOf<Service>(feature: Feature<Service>): Service
}

/** One of several serving threads takes these steps of `close` before it, together with the others. */
export interface ThreadApp extends App {
  stopServing(): Promise<void>
  exportLastMetrics(): Promise<void>
  readonly servers: Readonly<Record<'http' | 'sockets', Server>>
}

export interface App extends Stoppable {
  /** With `at`, features are not told that it listens; `announce` does that. */
  listen(at?: ListenAt): Promise<Listening>
  announce(): Listening['links']
}

/** How a service stops. Waiting between the steps is up to the process: see `commands/serving.ts`. */
export interface Stoppable {
  /**
   * Prepares the stop, while everything is still served: readiness is 503, so that proxies take the node out of rotation,
   * and responses carry `Connection: close`.
   */
  drain(): void
  /** Stops listening, waits for requests in flight, closes sockets with 1001, then everything else. */
  close(): Promise<void>
  /** Ends all connections at once, for a `close` that is to wait no longer. */
  cutOff(): void
}

/** Overrides the configuration. */
export interface ListenAt {
  port: number
  wsPort: number
  /** Other threads listen on the same ports, and the kernel shares connections out. */
  isShared: boolean
}

export interface Listening {
  /** The bound addresses. */
  url: string
  wsUrl: string
  /** What to open in a browser. */
  address: string
  /** Of features. Never rejects. */
  links: Promise<readonly TerminalLink[]>
}

/** After the start, which should not wait for it. */
const warmUpMs = 1000

export async function createApp({ onCreated, ...options }: AppOptions): Promise<ThreadApp> {
  const service = await openService(options)
  const { infrastructure, metrics, joined, graphql, readiness } = service
  const { config, log, random } = infrastructure
  try {
    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      printMetrics: infrastructure.threads.metricsOf(metrics).print,
      tracing: infrastructure.tracing,
      version: readVersion(),
      authenticate: joined.signIn.authenticate,
      liveAccess: graphql.liveAccess,
      policies: joined.policies,
      keys: joined.signIn.keys,
      readiness,
      isDevelopment: config.isDevelopment,
      corsOrigins: config.cors.origins,
      errorBodies: { [graphqlPath]: (error) => ({ errors: [formatAppError(error)] }) },
      onForbidden: joined.onForbidden,
      claimOnce: infrastructure.threads.claimOnce,
      beforeRoutes: requireUniqueRoutes,
    })
    await joined.addRoutes(http.app)
    await graphql.addRoutes(http.app)
    const consoleSocket = await addConsole(http.app, service)
    const { sockets, ...socketParts } = createSocketParts(infrastructure, graphql, readiness)
    socketParts.serveBeside(http.app.server, consoleSocket)
    let address = ''
    let links: Listening['links'] = Promise.resolve([])
    const announce = () => {
      if (infrastructure.threads.doesBackgroundWork) links = joined.onListening(address)
      return links
    }
    // Registered first, so that it is waited for after the server has stopped.
    infrastructure.onClose(() => links)
    const stopServing = once(() => closeInTurn(http, socketParts))
    infrastructure.onClose(stopServing)
    addServiceGauges(service)
    addStorageGauges(metrics, infrastructure)
    metrics.addGauge({ name: 'graphql_sockets', help: 'Open sockets.', label: 'dialect', read: sockets.counts })
    await onCreated?.(http.app, {
      ...infrastructure,
      ...graphql,
      sockets,
      collectMetrics: metrics.collect,
      readRecentRequests: metrics.recent.read,
      serviceOf: <Service>(feature: Feature<Service>) => service.services.get(feature) as Service,
    })
    await http.app.ready()

    return {
      async listen(at) {
        const isShared = at?.isShared ?? false
        const wsUrl = await socketParts.listen({ port: at?.wsPort ?? config.graphql.wsPort, isShared })
        const url = await http.listen({
          host: config.server.host,
          port: at?.port ?? config.server.port,
          reusePort: isShared,
        })
        address = config.server.publicUrl ?? reachableUrl(url)
        // Not with `announce`, which the successor of a thread is spared.
        if (infrastructure.threads.doesBackgroundWork) {
          const running = infrastructure.nodes.start()
          infrastructure.onClose(() => running.close())
        }
        const warming = setTimeout(graphql.prepareSchemas, warmUpMs).unref()
        infrastructure.onClose(async () => clearTimeout(warming))
        if (!at) void announce()
        return { url, wsUrl, address, links }
      },
      announce,
      servers: { http: http.app.server, sockets: socketParts.server },
      drain() {
        readiness.drain()
        http.drain()
      },
      stopServing,
      exportLastMetrics: service.exportLastMetrics,
      close: infrastructure.close,
      cutOff() {
        http.cutOff()
        socketParts.cutOff()
      },
    }
  } catch (error) {
    await infrastructure.close()
    throw error
  }
}

/** Nobody listens when the first socket is closed, so that its client reconnects to another node. */
async function closeInTurn(
  ...servers: { stopListening(): Promise<unknown>; close(): Promise<unknown> }[]
): Promise<void> {
  await Promise.all(servers.map((server) => server.stopListening()))
  await Promise.all(servers.map((server) => server.close()))
}
