/** The composition root: with the files of app/ the only place that knows every part. */
import type { FastifyInstance } from 'fastify'
import { addConsole } from './app/console.ts'
import type { AppEvents } from './app/events.ts'
import { type InfrastructureOptions, openInfrastructure } from './app/infrastructure.ts'
import { type Additions, createServices } from './app/services.ts'
import { createSocketParts } from './app/sockets.ts'
import { readVersion } from './config/version.ts'
import { createForbiddenRecorder } from './features/admin/admin.refusals.ts'
import { adminRoutes } from './features/admin/admin.routes.ts'
import { addPostRoutes } from './features/posts/posts.routes.ts'
import { productRoutes, productsPath } from './features/products/products.routes.ts'
import type { LiveAccess } from './platform/access/live-access.ts'
import type { Authenticate } from './platform/access/route-guards.ts'
import type { Bus } from './platform/bus/bus.ts'
import type { Database } from './platform/database/database.ts'
import type { Engine } from './platform/graphql/execution/engine.types.ts'
import { formatAppError } from './platform/graphql/execution/graphql-errors.ts'
import { graphqlPath } from './platform/graphql/http/graphql.routes.ts'
import type { Sockets } from './platform/graphql/websocket/upgrade-server.ts'
import { createHttpServer } from './platform/http/server.ts'
import { createMetrics } from './platform/metrics/metrics.ts'

export interface AppOptions extends Omit<InfrastructureOptions, 'observe' | 'metrics'>, Additions {
  /** Routes beside the service's own. */
  extend?: Extend
}

/** Adds to the service, before it serves. */
export type Extend = (app: FastifyInstance, parts: Parts) => void | Promise<void>

export interface Parts {
  db: Database
  events: AppEvents
  /** The topics of subscriptions. */
  topics: Bus
  engine: Engine
  /** Of the console's socket. */
  consoleEngine: Engine
  sockets: Sockets
  liveAccess: LiveAccess
  authenticate: Authenticate
}

export interface App {
  /** Serves. Returns the URLs of the addresses that are bound. */
  listen(): Promise<{ url: string; wsUrl: string }>
  close(): Promise<void>
}

export async function createApp(options: AppOptions): Promise<App> {
  const metrics = createMetrics()
  const reads = metrics.databaseSeries({ operation: 'read' })
  const writes = metrics.databaseSeries({ operation: 'write' })
  const infrastructure = await openInfrastructure({
    ...options,
    metrics,
    isService: true,
    observe: (operation, ms) => (operation === 'read' ? reads : writes).observe(ms / 1000),
  })
  try {
    const { config, log, random, db } = infrastructure
    const services = await createServices(infrastructure, options)
    const { auth, liveAccess, events, topics, policies } = services
    const { authenticate } = auth
    const { engine, consoleEngine } = services.graphql
    const http = await createHttpServer({
      ...config.server,
      log,
      random,
      metrics,
      version: readVersion(),
      authenticate,
      policies,
      readiness: services.readiness,
      isDevelopment: config.isDevelopment,
      corsOrigins: config.cors.origins,
      errorBodies: { [graphqlPath]: (error) => ({ errors: [formatAppError(error)] }) },
      onForbidden: createForbiddenRecorder(services.accounts.admin),
    })
    auth.addRoutes(http.app, services.createLimiter)
    addPostRoutes(http.app, { posts: services.posts })
    await http.app.register(adminRoutes, { prefix: '/api/admin', admin: services.accounts.admin })
    await http.app.register(productRoutes, {
      prefix: productsPath,
      products: services.products,
      lists: services.productLists,
      writePermission: config.products.writePermission,
    })
    await services.graphql.addRoutes(http.app)
    const consoleSocket = await addConsole(http.app, infrastructure, services)
    const { sockets, ...socketParts } = createSocketParts(infrastructure, {
      ...services.graphql,
      authenticate,
      liveAccess,
    })
    socketParts.serveBeside(http.app.server, consoleSocket)
    infrastructure.onClose(() => Promise.all([http.close(), socketParts.close()]))
    metrics.addGauge({
      name: 'dependency_up',
      help: 'Whether what the service depends on works: 1, or 0.',
      label: 'dependency',
      read: services.readiness.figures,
    })
    metrics.addGauge({ name: 'graphql_sockets', help: 'Open sockets.', label: 'dialect', read: sockets.counts })
    const subscriptions = { name: 'graphql_subscriptions', help: 'Open subscriptions, and sources that they share.' }
    metrics.addGauge({ ...subscriptions, label: 'kind', read: services.graphql.counts })
    await options.extend?.(http.app, { db, events, topics, engine, consoleEngine, sockets, liveAccess, authenticate })
    await http.app.ready()

    return {
      async listen() {
        const wsUrl = await socketParts.listen()
        return { url: await http.listen(config.server.host, config.server.port), wsUrl }
      },
      close: infrastructure.close,
    }
  } catch (error) {
    await infrastructure.close()
    throw error
  }
}
