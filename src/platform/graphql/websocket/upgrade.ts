/** Upgrade requests: which are let in, and what the others are told. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

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

/** There is no answer to write to yet, only a socket. */
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
 * Browsers tell which page opens a socket, and let any page do so. Whoever sends no origin is no browser. The service's
 * own pages may come from another of its ports.
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
 * For sockets that a cookie opens: browsers send it whatever page asks, so only the service's own pages may ask. Whoever
 * does not tell the page is refused too.
 */
export function createOwnOriginCheck(publicUrl: string | undefined): (request: IncomingMessage) => boolean {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl)
  return ({ headers: { origin = '', host } }) => {
    const page = URL.parse(origin)
    if (!page || host === undefined) return false
    // A proxy may have changed the host. A page over plain http is nobody's own where the service is reached by https.
    if (page.origin === own?.origin) return true
    return page.host === host.toLowerCase() && (own?.protocol !== 'https:' || page.protocol === 'https:')
  }
}

function hostOf(url: string): string | undefined {
  return URL.parse(url)?.hostname
}
