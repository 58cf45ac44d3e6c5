/** The client's address and user agent, as stored in sessions and the audit log. */
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'

export interface Client {
  address: string
  userAgent: string
  /** Whether the client has disconnected. Absent if there is no connection. */
  isGone?(): boolean
  /** Calls the listener when the client disconnects. Returns a function that removes it. */
  onGone?(listener: () => void): () => void
}

const maxUserAgent = 255

export function clientOf(request: FastifyRequest): Client {
  const { socket } = request.raw
  return {
    address: addressOf(request),
    userAgent: cleanUserAgent(request.headers['user-agent']),
    isGone: () => socket.destroyed,
    onGone: (listener) => onSocketClose(socket, listener),
  }
}

const listenersOf = new WeakMap<Socket, Set<() => void>>()

/** One listener per connection, whose pipelined requests may be many. */
function onSocketClose(socket: Socket, listener: () => void): () => void {
  const listeners = listenersOf.get(socket) ?? new Set()
  if (!listenersOf.has(socket)) {
    listenersOf.set(socket, listeners)
    socket.once('close', () => {
      for (const each of listeners) each()
    })
  }
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function addressOf(request: FastifyRequest): string {
  return cleanAddress(request.ip)
}

/** Unmaps IPv4-mapped IPv6 addresses. A socket that is closed has no address. */
export function cleanAddress(ip: string | undefined): string {
  return (ip ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Replaces characters that could forge lines in logs or pages. */
export function cleanUserAgent(given = ''): string {
  return [...given.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')].slice(0, maxUserAgent).join('')
}
