/**
 * CORS for the API paths, including their errors, but not for the console. Tokens are sent in a header, never in a
 * cookie, so credentials are not allowed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from './request-path.ts'
import { addVary } from './vary.ts'

type Headers = Readonly<Record<string, string>>

/** `url` and `origin` are those of the request. The header objects are built once, at start-up. */
export type HeadersFor = (url: string | undefined, origin: string | undefined) => Headers

const sharedPaths = ['/api', '/me', '/graphql', '/.well-known']

const exposed = [
  'ETag',
  'Link',
  'Location',
  'Retry-After',
  'x-cursor',
  'x-device-token',
  'x-request-id',
  'x-truncated',
].join(', ')

/** All methods for every path: a page could not read the 405 for a method that is missing here. */
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const maxAgeSeconds = '600'

/** Returns `base`, plus the CORS headers on shared paths. `*` allows all origins. */
export function createCorsHeaders(origins: readonly string[], base: Headers): HeadersFor {
  const headersFor = (origin: string): Headers => ({
    ...base,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
  })
  if (origins.includes('*')) {
    const forAll = headersFor('*')
    return (url) => (isShared(url) ? forAll : base)
  }
  // A cache must not serve one origin's response to another.
  const vary = { vary: 'origin' }
  const allowed = new Map(origins.map((origin) => [origin, { ...headersFor(origin), ...vary }]))
  const others = { ...base, ...vary }
  return (url, origin) => (isShared(url) ? (origin !== undefined && allowed.get(origin)) || others : base)
}

export interface OptionsHandlerDeps {
  /** The methods that a path has. */
  methodsOf(path: string): readonly string[]
}

/**
 * Handles OPTIONS on shared paths without a route of their own, and returns whether it has sent a response. Preflights
 * succeed on every path, so that the page can read the error that follows; other requests only on existing paths.
 */
export function createOptionsHandler({ methodsOf }: OptionsHandlerDeps) {
  return (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { method, url, headers } = request
    if (method !== 'OPTIONS' || !isShared(url)) return false
    const isPreflight = headers['access-control-request-method'] !== undefined
    const allowed = methodsOf(pathOf(url))
    if (!isPreflight && allowed.length === 0) return false
    if (allowed.length > 0) reply.header('allow', allowed.join(', '))
    if (isPreflight) allowMethods(reply, headers['access-control-request-headers'])
    reply.code(204).send()
    return true
  }
}

function allowMethods(reply: FastifyReply, requestedHeaders: string | undefined): void {
  reply.header('access-control-allow-methods', methods).header('access-control-max-age', maxAgeSeconds)
  if (requestedHeaders === undefined) return
  reply.header('access-control-allow-headers', requestedHeaders)
  addVary(reply, 'access-control-request-headers')
}

export function isShared(url = ''): boolean {
  const path = url.startsWith('/') ? url : pathOf(url)
  for (const shared of sharedPaths) {
    if (path.startsWith(shared) && (path.length === shared.length || '/?'.includes(path.charAt(shared.length)))) {
      return true
    }
  }
  return false
}
