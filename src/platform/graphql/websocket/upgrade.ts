/** Origin checks and refusals of upgrade requests. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { STATUS_CODES } from '../../http/node-http.ts'

export interface Refusal {
  status: number
  error: string
  headers?: Readonly<Record<string, string>>
}

export const refusals = {
  malformed: { status: 400, error: 'Malformed request', headers: { 'sec-websocket-version': '13' } },
  forbidden: { status: 403, error: 'Forbidden' },
  notFound: { status: 404, error: 'Not found' },
  methodNotAllowed: { status: 405, error: 'Method not allowed', headers: { allow: 'GET' } },
  tooMany: { status: 429, error: 'Too many attempts', headers: { 'retry-after': '5' } },
  unavailable: { status: 503, error: 'Service unavailable', headers: { 'retry-after': '5' } },
} satisfies Record<string, Refusal>

/** Written by hand: an upgrade request has a raw socket and no ServerResponse. */
export function refuseUpgrade(socket: Duplex, requestId: string, { status, error, headers = {} }: Refusal): void {
  const body = JSON.stringify({ error })
  const all = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/**
 * Browsers let any page open a socket, and send its origin. Clients without an origin are not browsers. Pages of the
 * same host may have another port.
 */
export function createOriginCheck(origins: readonly string[]): (request: IncomingMessage) => boolean {
  if (origins.includes('*')) return () => true
  const allowed = new Set(origins)
  return ({ headers: { origin, host } }) => {
    if (origin === undefined || allowed.has(origin)) return true
    const own = hostOf(`http://${host}`)
    return own !== undefined && hostOf(origin) === own
  }
}

/**
 * For sockets authenticated by a cookie, which browsers send for any page (cross-site WebSocket hijacking): only the
 * service's own origin is allowed, and a missing one is refused.
 */
export function createOwnOriginCheck(publicUrl: string | undefined): (request: IncomingMessage) => boolean {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  return ({ headers: { origin = '', host } }) => {
    const page = URL.parse(origin)
    if (!page || host === undefined) return false
    // A proxy may have changed the host. If the public URL is https, a page over http is not our own.
    if (page.origin === own?.origin) return true
    return page.host === host.toLowerCase() && (own?.protocol !== 'https:' || page.protocol === 'https:')
  }
}

function hostOf(url: string): string | undefined {
  return URL.parse(url)?.hostname
}
