/** Serves GraphQL over WebSockets, on a port of its own and on the HTTP port. */
import type { Server } from 'node:http'
import type { LiveAccess } from '../platform/access/live-access.ts'
import type { Authenticate } from '../platform/access/route-guards.ts'
import type { Engine } from '../platform/graphql/execution/engine.types.ts'
import type { FairScheduler } from '../platform/graphql/execution/fair-scheduler.ts'
import { graphqlPath } from '../platform/graphql/http/graphql.routes.ts'
import { createStandaloneServer } from '../platform/graphql/websocket/standalone-server.ts'
import { createUpgradeServer, type UpgradeEndpoint } from '../platform/graphql/websocket/upgrade-server.ts'
import { createAddressReader, createProxyTrust } from '../platform/http/proxies.ts'
import type { Readiness } from '../platform/http/readiness.ts'
import { createRequestIds } from '../platform/http/request-ids.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import type { AddressBudgets } from '../platform/limiter/address-budgets.ts'
import { stopTimesOf } from '../platform/process/stop-times.ts'

export interface SocketParts {
  engine: Engine
  authenticate: Authenticate
  liveAccess: LiveAccess
  scheduler: FairScheduler
  budgets: AddressBudgets
}

export function createSocketParts(
  { config, log, random, limitPerAddress }: Infrastructure,
  parts: SocketParts,
  readiness: Readiness,
) {
  const { graphql, server, cors } = config
  const { spreadMs, quietMs } = stopTimesOf(server.drainSeconds)
  const isTrusted = createProxyTrust(server.trustedProxies)
  const requestIds = createRequestIds(random, isTrusted)
  const own = server.publicUrl === undefined ? [] : [new URL(server.publicUrl).origin]
  const sockets = createUpgradeServer({
    ...parts,
    log,
    addressOf: createAddressReader(isTrusted),
    requestIdOf: requestIds.of,
    origins: [...cors.origins, ...own],
    perAddress: limitPerAddress('sockets', graphql.maxSocketsPerAddress),
    maxSubscriptions: graphql.maxSubscriptionsPerSocket,
    maxAnonymousMessage: graphql.maxAnonymousMessage,
    closeOverMs: spreadMs,
  })
  const socketServer = createStandaloneServer({
    sockets,
    log,
    createRequestId: requestIds.create,
    perAddress: limitPerAddress('socket-connections', graphql.maxSocketsPerAddress),
    readiness,
    quietMs,
    isTrusted,
  })
  return {
    sockets,
    server: socketServer.server,
    /** `others` are further upgrade endpoints on the same server, by path. */
    serveBeside: (http: Server, others: Readonly<Record<string, UpgradeEndpoint>> = {}) =>
      sockets.serveAt(http, graphqlPath, others),
    stopListening: () => socketServer.stopListening(),
    async close() {
      await sockets.close()
      await socketServer.close()
    },
    cutOff: () => sockets.cutOff(),
    /** Returns the URL of the bound address. */
    listen: ({ port = graphql.wsPort, isShared = false } = {}) =>
      socketServer.listen({ host: graphql.wsHost, port, reusePort: isShared }),
  }
}
