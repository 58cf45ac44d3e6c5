/** Who asks: the address and the program, as they are recorded. */
import type { FastifyRequest } from 'fastify'

export interface Client {
  address: string
  userAgent: string
  /** Whether the connection has been closed, so that nobody reads an answer. Absent where there is no connection. */
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

/** An IPv4 client of an IPv6 socket is the same client. One that has hung up has no address any more. */
export function cleanAddress(ip: string | undefined): string {
  return (ip ?? 'unknown').replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Without what could forge a line of a log or of a page. */
export function cleanUserAgent(given = ''): string {
  return [...given.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')].slice(0, maxUserAgent).join('')
}
