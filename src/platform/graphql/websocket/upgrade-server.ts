/** Sockets for GraphQL, on any server of node:http. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { type Authenticate, bearerOf } from '../../access/route-guards.ts'
import { hasValidHost } from '../../http/host-header.ts'
import { pathOf } from '../../http/request-path.ts'
import { createConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Engine } from '../execution/engine.types.ts'
import { maxMessageBytes } from './inbox.ts'
import { closeWithinMs, createOpenConnections, type OpenConnectionsOptions } from './open-connections.ts'
import { createOriginCheck, type Refusal, refusals, refuseUpgrade } from './upgrade.ts'

export interface UpgradeServerOptions extends OpenConnectionsOptions {
  authenticate: Authenticate
  /** Of the client, which a trusted proxy may speak for. */
  addressOf(request: IncomingMessage): string
  requestIdOf(request: IncomingMessage): string
  /** Of the pages that may open sockets; `*` stands for all. */
  origins: readonly string[]
  maxPerAddress: number
}

/** A way in: from which pages, and how it is told who comes. */
export interface UpgradeEndpoint {
  isAllowed(request: IncomingMessage): boolean
  /** Undefined for nobody in particular. Where there is no token in it, what was given is none, and is refused. */
  credentialOf(request: IncomingMessage): { token: string | undefined } | undefined
  authenticate: Authenticate
  /** Another one than elsewhere. */
  engine?: Engine
}

export interface Sockets {
  /** Whatever the path. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Serves on one path of a server, and on those that have an endpoint of their own. Refuses upgrades on all others. */
  serveAt(server: Server, path: string, others?: Readonly<Record<string, UpgradeEndpoint>>): void
  /** How many are open, and with which sub-protocol. */
  counts(): { raw: number; transport: number }
  /** Lets nobody in any more and closes what is open, at the latest after two seconds. */
  close(): Promise<void>
}

interface Upgrade {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
  endpoint: UpgradeEndpoint
}

export function createUpgradeServer(options: UpgradeServerOptions): Sockets {
  const { log, addressOf, requestIdOf } = options
  const connections = createOpenConnections(options)
  const server = createWebSocketServer(connections.chooseProtocol)
  const byToken = tokenEndpoint(options)
  const ids = new WeakMap<IncomingMessage, string>()
  const perAddress = createConnectionsPerAddress(options.maxPerAddress)
  let isClosing = false

  server.on('headers', (headers, request) => headers.push(`x-request-id: ${idOf(request)}`))
  server.on('wsClientError', (_error, socket, request) => refuse(request, socket, refusals.malformed))

  function idOf(request: IncomingMessage): string {
    const id = ids.get(request) ?? requestIdOf(request)
    ids.set(request, id)
    return id
  }

  function refuse(request: IncomingMessage, socket: Duplex, refusal: Refusal): void {
    const requestId = idOf(request)
    log.info({ requestId, address: addressOf(request), status: refusal.status }, 'socket refused')
    refuseUpgrade(socket, requestId, refusal)
  }

  function refusalOf(request: IncomingMessage, endpoint: UpgradeEndpoint): Refusal | undefined {
    if (isClosing) return refusals.unavailable
    if (!hasValidHost(request)) return refusals.malformed
    return endpoint.isAllowed(request) ? undefined : refusals.forbidden
  }

  function letIn({ request, socket, head, endpoint }: Upgrade): void {
    const address = addressOf(request)
    const refusal = refusalOf(request, endpoint)
    const leave = refusal ? undefined : perAddress.enter(address)
    if (!leave) {
      refuse(request, socket, refusal ?? refusals.tooMany)
      return
    }
    let isAccepted = false
    server.handleUpgrade(request, socket, head, (ws) => {
      isAccepted = true
      ws.on('close', leave)
      // The request itself is not kept: it is larger than all that is.
      connections.accept({
        ws,
        socket,
        address,
        authenticate: endpoint.authenticate,
        engine: endpoint.engine,
        credential: endpoint.credentialOf(request),
        userAgent: request.headers['user-agent'],
        requestId: idOf(request),
      })
    })
    // By then it has been let in or refused.
    if (!isAccepted) leave()
  }

  return {
    handleUpgrade: (request, socket, head) => letIn({ request, socket, head, endpoint: byToken }),

    serveAt(httpServer, path, others = {}) {
      const endpoints = new Map([[path, byToken], ...Object.entries(others)])
      httpServer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const asked = pathOf(request.url ?? '').replace(/(?<=.)\/$/, '')
        const endpoint = endpoints.get(asked)
        if (endpoint) letIn({ request, socket, head, endpoint })
        else refuse(request, socket, refusals.notFound)
      })
    },

    counts: connections.counts,

    close() {
      isClosing = true
      return connections.close()
    },
  }
}

function createWebSocketServer(handleProtocols: (offered: Set<string>) => string | false): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // What is owed to a client that does not read must count, pongs too.
    autoPong: false,
    // The types do not know it yet.
    ...({ closeTimeout: closeWithinMs } as object),
    handleProtocols,
  })
}

/** By a token, which is optional. */
function tokenEndpoint({ origins, authenticate }: UpgradeServerOptions): UpgradeEndpoint {
  return {
    isAllowed: createOriginCheck(origins),
    credentialOf: ({ headers: { authorization } }) =>
      authorization === undefined ? undefined : { token: bearerOf(authorization) },
    authenticate,
  }
}
