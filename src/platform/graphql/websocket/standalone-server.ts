/** A server for sockets alone: every path leads to them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { boundUrl } from '../../http/bound-url.ts'
import { hasValidHost } from '../../http/host-header.ts'
import { describeListenError } from '../../http/listen-error.ts'
import { createParserErrorHandler } from '../../http/parser-errors.ts'
import { pathOf } from '../../http/request-path.ts'
import { cutOffUnread } from '../../http/unread-answers.ts'
import { isWebSocketUpgrade } from '../../http/upgrades.ts'
import { createConnectionsPerAddress } from '../../limiter/connections-per-address.ts'
import type { Log } from '../../log/logger.ts'
import { type Refusal, refusals, refuseUpgrade } from './upgrade.ts'
import type { Sockets } from './upgrade-server.ts'

export interface StandaloneServerOptions {
  sockets: Sockets
  log: Log
  createRequestId(): string
  /** Connections of one peer that have not become sockets yet, unless it is a proxy that speaks for many. */
  maxPerAddress: number
  isTrusted(address: string | undefined): boolean
  /** For the head of a request, from when the connection was made. */
  headWithinMs?: number
  /** For so long a client may leave unread what it was sent. */
  unreadSeconds?: number
}

export interface StandaloneServer {
  /** Returns the URL of the address that is bound. */
  listen(host: string, port: number): Promise<string>
  /** Close the sockets first: it waits for them. */
  close(): Promise<void>
}

/** How often Node looks for connections whose time is over. */
const looksPerLimit = 10

export function createStandaloneServer(options: StandaloneServerOptions): StandaloneServer {
  const { sockets, log, createRequestId, headWithinMs = 10_000, unreadSeconds = 30 } = options
  const server = createServer(
    {
      headersTimeout: headWithinMs,
      requestTimeout: headWithinMs,
      connectionsCheckingInterval: headWithinMs / looksPerLimit,
      // Node would refuse by itself, without a body.
      requireHostHeader: false,
      shouldUpgradeCallback: isWebSocketUpgrade,
    },
    answer,
  )
  const unread = cutOffUnread({
    server,
    seconds: unreadSeconds,
    onCutOff: ({ remoteAddress: address }) => log.info({ address }, 'a socket was cut off: its client does not read'),
  })
  const perAddress = createConnectionsPerAddress(options.maxPerAddress)
  const onUpgrade = new WeakMap<Duplex, () => void>()

  server.on('connection', (socket: Socket) => {
    if (options.isTrusted(socket.remoteAddress)) return
    const leave = perAddress.enter(socket.remoteAddress ?? '')
    if (!leave) return refuse(socket, refusals.tooMany)
    socket.once('close', leave)
    onUpgrade.set(socket, leave)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // From here on it is counted with the sockets.
    onUpgrade.get(socket)?.()
    sockets.handleUpgrade(request, socket, head)
  })
  server.on('connect', (_request, socket: Duplex) => refuse(socket, refusals.methodNotAllowed))
  // Node would answer an "Expect" that it does not know by 417, without a body.
  server.on('checkExpectation', answer)
  server.on('clientError', createParserErrorHandler({ createRequestId, log }) as () => void)

  function refuse(socket: Duplex, refusal: Refusal): void {
    refuseUpgrade(socket, createRequestId(), refusal)
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { method, url = '' } = request
    response.setHeader('x-request-id', createRequestId())
    // So that a supervisor can watch a process that serves nothing else.
    const isLive = (method === 'GET' || method === 'HEAD') && pathOf(url) === '/health/live'
    if (!hasValidHost(request)) send(response, 400, { error: 'Malformed request' })
    else if (isLive) send(response, 200, { status: 'ok' })
    else send(response.setHeader('upgrade', 'websocket'), 426, { error: 'Upgrade required' })
  }

  return {
    async listen(host, port) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(describeListenError(error, { host, port })))
        server.listen(port, host, resolve)
      })
      return boundUrl('ws', server.address() as AddressInfo)
    },

    async close() {
      unread.close()
      if (!server.listening) return
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
      // A body that may follow is not read.
      connection: status === 426 ? 'upgrade, close' : 'close',
    })
    .end(text)
}
