/** An HTTP server for WebSockets alone, on any path. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { boundUrl } from '../../http/bound-url.ts'
import { hasValidHost } from '../../http/host-header.ts'
import { describeListenError, type ListenTarget } from '../../http/listen-error.ts'
import { createServer } from '../../http/node-http.ts'
import { createParserErrorHandler } from '../../http/parser-errors.ts'
import type { Readiness } from '../../http/readiness.ts'
import { pathOf } from '../../http/request-path.ts'
import { disconnectSlowReaders } from '../../http/slow-readers.ts'
import { stopListening } from '../../http/stop-listening.ts'
import { isWebSocketUpgrade } from '../../http/upgrades.ts'
import type { ConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Log } from '../../log/logger.ts'
import { type Refusal, refusals, refuseUpgrade } from './upgrade.ts'
import type { Sockets } from './upgrade-server.ts'

export interface StandaloneServerOptions {
  sockets: Sockets
  log: Log
  createRequestId(): string
  readiness: Pick<Readiness, 'check'>
  /** Limit of connections before their upgrade. Trusted proxies are exempt. */
  perAddress: ConnectionsPerAddress
  isTrusted(address: string | undefined): boolean
  /** See `StopTimes`. */
  quietMs?: number
  /** For the request headers, from the start of the connection. */
  headersWithinMs?: number
  /** How long a client may leave data unread. */
  unreadSeconds?: number
}

export interface StandaloneServer {
  /** Returns the URL of the bound address. */
  listen(target: ListenTarget): Promise<string>
  /** Refuses new connections. The open ones stay. */
  stopListening(): Promise<void>
  /** Close the sockets first, because it waits for them. */
  close(): Promise<void>
  readonly server: Server
}

/** Node checks connections for timeouts this often within the limit. */
const checksPerLimit = 10

export function createStandaloneServer(options: StandaloneServerOptions): StandaloneServer {
  const { sockets, log, createRequestId, perAddress, headersWithinMs = 10_000, unreadSeconds = 30 } = options
  const server = createServer(
    {
      headersTimeout: headersWithinMs,
      requestTimeout: headersWithinMs,
      connectionsCheckingInterval: headersWithinMs / checksPerLimit,
      // Checked by hasValidHost: Node's own 400 has no body.
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    respond,
  )
  const slowReaders = disconnectSlowReaders({
    server,
    seconds: unreadSeconds,
    onDisconnect: ({ remoteAddress: address }) =>
      log.info({ address }, 'a socket was cut off: its client does not read'),
  })
  const onUpgrade = new WeakMap<Duplex, () => void>()

  server.on('connection', (socket: Socket) => {
    if (options.isTrusted(socket.remoteAddress)) return
    const leave = perAddress.enter(socket.remoteAddress ?? '')
    if (!leave) return refuse(socket, refusals.tooMany)
    socket.once('close', leave)
    onUpgrade.set(socket, leave)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // From here on the limit of open sockets applies.
    onUpgrade.get(socket)?.()
    sockets.handleUpgrade(request, socket, head)
  })
  server.on('connect', (_request, socket: Duplex) => refuse(socket, refusals.methodNotAllowed))
  // Node's own 417 for an unknown "Expect" has no body.
  server.on('checkExpectation', respond)
  server.on('clientError', createParserErrorHandler({ createRequestId, log }) as () => void)

  function refuse(socket: Duplex, refusal: Refusal): void {
    refuseUpgrade(socket, createRequestId(), refusal)
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request
    response.setHeader('x-request-id', createRequestId())
    // For supervisors and proxies of a process that serves nothing else.
    const health = method === 'GET' || method === 'HEAD' ? pathOf(url) : ''
    if (!hasValidHost(request)) send(response, 400, { error: 'Malformed request' })
    else if (health === '/health/live') send(response, 200, { status: 'ok' })
    else if (health === '/health/ready') void sendReadiness(response)
    else send(response.setHeader('upgrade', 'websocket'), 426, { error: 'Upgrade required' })
  }

  async function sendReadiness(response: ServerResponse): Promise<void> {
    try {
      const degraded = await options.readiness.check()
      send(response, 200, degraded.length === 0 ? { status: 'ok' } : { status: 'ok', degraded })
    } catch {
      const { status, error, headers } = refusals.unavailable
      send(response.setHeader('retry-after', headers['retry-after']), status, { error })
    }
  }

  return {
    server,
    async listen(target) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(describeListenError(error, target)))
        server.listen(target, resolve)
      })
      return boundUrl('ws', server.address() as AddressInfo)
    },

    stopListening: () => stopListening(server, options.quietMs ?? 0),

    async close() {
      slowReaders.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      // A request body is not read.
      connection: status === 426 ? 'upgrade, close' : 'close',
    })
    .end(text)
}
