/** The client's address and user agent, as stored in sessions and the audit log. */
import type { FastifyRequest } from 'fastify'

export interface Client {
  address: string
  userAgent: string
  /** Whether the client has disconnected. Absent if there is no connection. */
  isGone?(): boolean
}

const maxUserAgent = 255

export function clientOf(request: FastifyRequest): Client {
  const { socket } = request.raw
  return {
    address: addressOf(request),
    userAgent: cleanUserAgent(request.headers['user-agent']),
    isGone: () => socket.destroyed,
  }
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
