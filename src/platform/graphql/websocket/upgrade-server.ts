/** Sockets for GraphQL, on any server of node:http. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Authenticate, bearerOf } from '../../access/route-guards.ts'
import { cleanUserAgent } from '../../http/client.ts'
import { hasValidHost } from '../../http/host-header.ts'
import { LazyLog } from '../../http/lazy-log.ts'
import { pathOf } from '../../http/request-path.ts'
import { createConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Log } from '../../log/logger.ts'
import type { Engine } from '../execution/engine.types.ts'
import { closeReasons } from './close-reasons.ts'
import { Connection, type ConnectionDeps } from './connection.ts'
import { createTransportProtocol } from './graphql-transport-ws.ts'
import { startHeartbeat, type Timing } from './heartbeat.ts'
import { maxMessageBytes } from './inbox.ts'
import { createPlainJson } from './plain-json.ts'
import { createOriginCheck, type Refusal, refusals, refuseUpgrade } from './upgrade.ts'

export interface UpgradeServerOptions extends Omit<ConnectionDeps, 'onReleased'> {
  authenticate: Authenticate
  log: Log
  /** Of the client, which a trusted proxy may speak for. */
  addressOf(request: IncomingMessage): string
  requestIdOf(request: IncomingMessage): string
  /** Of the pages that may open sockets; `*` stands for all. */
  origins: readonly string[]
  maxPerAddress: number
  timing?: Partial<Timing>
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

/** For the other side to close too, before the connection is cut. */
const closeWithinMs = 2000

const defaultTiming: Timing = { pingEveryMs: 30_000, initWithinMs: 3000, messageWithinMs: 10_000 }

export function createUpgradeServer(options: UpgradeServerOptions): Sockets {
  const { log, addressOf, requestIdOf } = options
  const raw = createPlainJson()
  const transport = createTransportProtocol()
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    // What is owed to a client that does not read must count, pongs too.
    autoPong: false,
    // The types do not know it yet.
    ...({ closeTimeout: closeWithinMs } as object),
    // A browser gives up a socket that answers with none of the protocols it offered, and never learns the reason.
    handleProtocols: (offered) => (offered.has(transport.protocol) ? transport.protocol : [...offered][0]) ?? false,
  })
  const heartbeat = startHeartbeat({ ...defaultTiming, ...options.timing })
  const deps: ConnectionDeps = { ...options, onReleased: heartbeat.remove }
  /** By a token, which is optional. */
  const byToken: UpgradeEndpoint = {
    isAllowed: createOriginCheck(options.origins),
    credentialOf: ({ headers: { authorization } }) =>
      authorization === undefined ? undefined : { token: bearerOf(authorization) },
    authenticate: options.authenticate,
  }
  const open = new Set<Connection>()
  const ids = new WeakMap<IncomingMessage, string>()
  const perAddress = createConnectionsPerAddress(options.maxPerAddress)
  let isClosing = false
  let onEmpty = () => {}

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
      const { 'user-agent': userAgent } = request.headers
      const credential = endpoint.credentialOf(request)
      accept({ ws, socket, address, endpoint, credential, userAgent, requestId: idOf(request) })
    })
    // By then it has been let in or refused.
    if (!isAccepted) leave()
  }

  function accept({ ws, socket, address, endpoint, credential, userAgent, requestId }: Accepted): void {
    if (ws.protocol !== '' && ws.protocol !== transport.protocol) {
      const { code, text } = closeReasons.protocolNotAcceptable
      ws.on('error', () => {})
      ws.close(code, text)
      // Nothing that it still sends is read.
      socket.removeAllListeners('data').pause()
      return
    }
    const connection = new Connection({
      ws,
      socket,
      protocol: ws.protocol === '' ? raw : transport,
      client: { address, userAgent: cleanUserAgent(userAgent) },
      log: new LazyLog(log, { requestId }),
      authenticate: endpoint.authenticate,
      deps: endpoint.engine ? { ...deps, engine: endpoint.engine } : deps,
    })
    open.add(connection)
    heartbeat.add(connection)
    ws.on('close', (code) => {
      connection.release()
      open.delete(connection)
      const ms = Math.round(performance.now() - connection.openedAt)
      log.info({ requestId, address, protocol: ws.protocol, closedWith: code, ms }, 'socket closed')
      if (open.size === 0) onEmpty()
    })
    if (credential) connection.identify(credential.token)
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

    counts() {
      let ofTransport = 0
      for (const { protocol } of open) if (protocol === transport) ofTransport += 1
      return { raw: open.size - ofTransport, transport: ofTransport }
    },

    async close() {
      isClosing = true
      const emptied = new Promise<void>((resolve) => {
        onEmpty = resolve
      })
      for (const connection of open) connection.leave(closeReasons.goingAway)
      const cutOff = setTimeout(() => {
        for (const { writer } of open) writer.terminate()
      }, closeWithinMs)
      if (open.size > 0) await emptied
      clearTimeout(cutOff)
      heartbeat.stop()
    },
  }
}

interface Upgrade {
  request: IncomingMessage
  socket: Duplex
  head: Buffer
  endpoint: UpgradeEndpoint
}

interface Accepted {
  ws: WebSocket
  socket: Duplex
  address: string
  endpoint: UpgradeEndpoint
  credential: { token: string | undefined } | undefined
  userAgent: string | undefined
  requestId: string
}
