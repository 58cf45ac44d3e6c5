/** GraphQL over WebSockets, on any node:http server. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { type Authenticate, bearerOf } from '../../access/route-guards.ts'
import { hasValidHost } from '../../http/host-header.ts'
import { pathOf } from '../../http/request-path.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Engine } from '../execution/engine.types.ts'
import { maxMessageBytes } from './inbox.ts'
import { closeWithinMs, createOpenConnections, type OpenConnectionsOptions } from './open-connections.ts'
import { createOriginCheck, type Refusal, refusals, refuseUpgrade } from './upgrade.ts'

export interface UpgradeServerOptions extends OpenConnectionsOptions {
  authenticate: Authenticate
  /** The client's address, behind trusted proxies too. */
  addressOf(request: IncomingMessage): string
  requestIdOf(request: IncomingMessage): string
  /** Origins of pages that may open sockets; `*` allows all. */
  origins: readonly string[]
  perAddress: ConnectionsPerAddress
}

/** Which requests may open a socket, and how they are authenticated. */
export interface UpgradeEndpoint {
  isAllowed(request: IncomingMessage): boolean
  /** Undefined for anonymous clients. An undefined token is a malformed credential, which is refused. */
  credentialOf(request: IncomingMessage): { token: string | undefined } | undefined
  authenticate: Authenticate
  /** Overrides the default engine. */
  engine?: Engine
}

export interface Sockets {
  /** For any path. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Serves one path of a server, and the paths of `others`. Refuses upgrades on all other paths. */
  serveAt(server: Server, path: string, others?: Readonly<Record<string, UpgradeEndpoint>>): void
  /** Open sockets by protocol. */
  counts(): { raw: number; transport: number }
  /** Refuses new sockets and closes the open ones, each within two seconds. */
  close(): Promise<void>
  /** Ends the open sockets without waiting for their clients. */
  cutOff(): void
}

interface Upgrade {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
  endpoint: UpgradeEndpoint
}

export function createUpgradeServer(options: UpgradeServerOptions): Sockets {
  const { log, addressOf, requestIdOf, perAddress } = options
  const connections = createOpenConnections(options)
  const server = createWebSocketServer(connections.chooseProtocol)
  const byToken = tokenEndpoint(options)
  const ids = new WeakMap<IncomingMessage, string>()
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

  function accept({ request, socket, head, endpoint }: Upgrade): void {
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
      // Does not retain the request, which is larger than the rest together.
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
    // handleUpgrade is synchronous: the socket has been accepted or refused.
    if (!isAccepted) leave()
  }

  return {
    handleUpgrade: (request, socket, head) => accept({ request, socket, head, endpoint: byToken }),

    serveAt(httpServer, path, others = {}) {
      const endpoints = new Map([[path, byToken], ...Object.entries(others)])
      httpServer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const requested = pathOf(request.url ?? '').replace(/(?<=.)\/$/, '')
        const endpoint = endpoints.get(requested)
        if (endpoint) accept({ request, socket, head, endpoint })
        else refuse(request, socket, refusals.notFound)
      })
    },

    counts: connections.counts,

    close() {
      isClosing = true
      return connections.close()
    },

    cutOff: connections.cutOff,
  }
}

function createWebSocketServer(handleProtocols: (offered: Set<string>) => string | false): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // Pongs must count towards the buffer limit too.
    autoPong: false,
    // Missing in the type definitions.
    ...({ closeTimeout: closeWithinMs } as object),
    handleProtocols,
  })
}

/** The bearer token is optional. */
function tokenEndpoint({ origins, authenticate }: UpgradeServerOptions): UpgradeEndpoint {
  return {
    isAllowed: createOriginCheck(origins),
    credentialOf: ({ headers: { authorization } }) =>
      authorization === undefined ? undefined : { token: bearerOf(authorization) },
    authenticate,
  }
}
