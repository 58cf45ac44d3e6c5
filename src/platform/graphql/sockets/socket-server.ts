/** A server for sockets alone: every path leads to them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBrokenRequestHandler } from '../../http/broken-requests.ts'
import { describeListenError } from '../../http/listen-error.ts'
import { isWebSocketUpgrade } from '../../http/upgrades.ts'
import type { Log } from '../../log/logger.ts'
import type { Sockets } from './sockets.ts'

export interface SocketServerOptions {
  sockets: Sockets
  log: Log
  createRequestId(): string
}

export interface SocketServer {
  /** Answers the address it serves on. */
  listen(host: string, port: number): Promise<string>
  /** Close the sockets first: it waits for them. */
  close(): Promise<void>
}

export function createSocketServer({ sockets, log, createRequestId }: SocketServerOptions): SocketServer {
  const server = createServer({ requestTimeout: 30_000, shouldUpgradeCallback: isWebSocketUpgrade }, answer)
  server.on('upgrade', sockets.handleUpgrade)
  server.on('clientError', createBrokenRequestHandler({ createRequestId, log }) as () => void)

  return {
    async listen(host, port) {
      await new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(describeListenError(error, { host, port })))
        server.listen(port, host, resolve)
      })
      const { address, family, port: taken } = server.address() as AddressInfo
      return `ws://${hostFor(address, family)}:${taken}`
    },

    async close() {
      if (!server.listening) return
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }

  function answer({ method, url }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('x-request-id', createRequestId())
    // So that a supervisor can watch a process that serves nothing else.
    const isLive = (method === 'GET' || method === 'HEAD') && url?.split('?', 1)[0] === '/health/live'
    if (isLive) send(response, 200, { status: 'ok' })
    else send(response.setHeader('upgrade', 'websocket'), 426, { error: 'Upgrade required' })
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      // A body that may follow is not read.
      connection: status === 426 ? 'upgrade, close' : 'close',
    })
    .end(text)
}

/** An address that can be connected to, where the server listens on all. */
function hostFor(address: string, family: string): string {
  if (family === 'IPv4') return address === '0.0.0.0' ? '127.0.0.1' : address
  return address === '::' ? '[::1]' : `[${address}]`
}
