/** Where GraphQL's sockets are served: on a port of their own, and beside the routes. */
import type { Server } from 'node:http'
import type { Engine } from '../platform/graphql/engine.ts'
import type { FairTurns } from '../platform/graphql/fair-turns.ts'
import { graphqlPath } from '../platform/graphql/http/graphql.routes.ts'
import { createSocketServer } from '../platform/graphql/sockets/socket-server.ts'
import { createSockets, type Entrance } from '../platform/graphql/sockets/sockets.ts'
import type { Authenticate } from '../platform/http/access.ts'
import type { LiveAccess } from '../platform/http/live-access.ts'
import { createAddressReader, createProxyTrust } from '../platform/http/proxies.ts'
import { createRequestIds } from '../platform/http/request-ids.ts'
import type { AddressBudgets } from '../platform/limiter/address-budgets.ts'
import type { Ground } from './ground.ts'

export interface SocketParts {
  engine: Engine
  authenticate: Authenticate
  liveAccess: LiveAccess
  turns: FairTurns
  budgets: AddressBudgets
}

export function createSocketParts({ config, log, random }: Ground, parts: SocketParts) {
  const { graphql, server, cors } = config
  const isTrusted = createProxyTrust(server.trustedProxies)
  const requestIds = createRequestIds(random, isTrusted)
  const own = server.publicUrl === undefined ? [] : [new URL(server.publicUrl).origin]
  const sockets = createSockets({
    ...parts,
    log,
    addressOf: createAddressReader(isTrusted),
    requestIdOf: requestIds.of,
    origins: [...cors.origins, ...own],
    maxPerAddress: graphql.maxSocketsPerAddress,
    maxSubscriptions: graphql.maxSubscriptionsPerSocket,
    maxAnonymousMessage: graphql.maxAnonymousMessage,
  })
  const socketServer = createSocketServer({
    sockets,
    log,
    createRequestId: requestIds.create,
    maxPerAddress: graphql.maxSocketsPerAddress,
    isTrusted,
  })
  return {
    sockets,
    /** With the entrances of other paths. */
    serveBeside: (http: Server, others: Readonly<Record<string, Entrance>> = {}) =>
      sockets.serveAt(http, graphqlPath, others),
    async close() {
      await sockets.close()
      await socketServer.close()
    },
    /** Returns the URL of the address that is bound. */
    listen: () => socketServer.listen(graphql.wsHost, graphql.wsPort),
  }
}
