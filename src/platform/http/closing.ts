/** Closes an HTTP server without losing requests that are in flight, and without waiting for clients that send none. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StopTimes } from '../process/stop-times.ts'
import { stopListening } from './stop-listening.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The listener is called when the service is about to stop, while everything is still served. */
    onDrain(listener: () => void): void
  }
}

export interface Closing {
  /** From now on responses ask the client to close the connection. */
  drain(): void
  /** The listener is called once, when draining begins. */
  onDrain(listener: () => void): void
  /** Whether responses have to do so. */
  isDraining(): boolean
  /** Whether new requests are refused. */
  isRefusing(): boolean
  /** Open connections are still served. */
  stopListening(): Promise<void>
  /** Closes the connections as they become idle. `closeServer` resolves when the last has ended. */
  close(closeServer: () => Promise<unknown>): Promise<void>
  /** Ends all connections at once. */
  cutOff(): void
}

const sweepMs = 50

export function createClosing(server: Server, times: StopTimes): Closing {
  const sockets = new Set<Socket>()
  const drainListeners: (() => void)[] = []
  let isDraining = false
  let isRefusing = false
  let isCutOff = false

  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A WebSocket is not for this server to close.
  server.on('upgrade', (_request: IncomingMessage, socket: Socket) => sockets.delete(socket))

  function drain(): void {
    isDraining = true
    for (const listener of drainListeners.splice(0)) listener()
  }

  function cutOff(): void {
    isCutOff = true
    server.closeAllConnections()
  }

  return {
    drain,
    onDrain: (listener) => void drainListeners.push(listener),
    isDraining: () => isDraining,
    isRefusing: () => isRefusing,
    cutOff,

    async stopListening() {
      drain()
      await stopListening(server, times.quietMs)
    },

    async close(closeServer) {
      const closedAt = performance.now()
      // A proxy without health checks may just be sending a request on an idle connection. It will not use any after its
      // next new connection has been refused.
      await sleep(times.lingerMs)
      isRefusing = true
      // A connection becomes idle after its last response, which may be after closing has begun.
      const sweep = setInterval(() => {
        const ms = performance.now() - closedAt
        if (ms > times.requestsMs || isCutOff) server.closeAllConnections()
        else server.closeIdleConnections()
        if (ms > times.halfSentMs) for (const socket of sockets) if (isHalfSent(socket)) socket.destroy()
      }, sweepMs)
      try {
        await closeServer()
      } finally {
        clearInterval(sweep)
      }
    },
  }
}

/** Node does not count a connection as idle on which a part of a request has arrived. */
function isHalfSent(socket: Socket): boolean {
  // Set by Node while a request on this connection has no complete response.
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: ServerResponse | null }
  return !response?.req.complete
}
