/**
 * Which answers pages of other origins may read: all below these paths, refusals included, and no page of the console.
 * Tokens travel in a header, never in a cookie, so no credentials are allowed.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from './request-path.ts'
import { addVary } from './vary.ts'

type Headers = Readonly<Record<string, string>>

/** `url` and `origin` as the request has them. All of the headers are built before the first request. */
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

/** Every method, whatever the path has: a page could not read the 405 to one that is missing here. */
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const maxAgeSeconds = '600'

/** Returns the headers of an answer: `base`, and on shared paths those of CORS. `*` stands for all origins. */
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
  // A cache must not hand one origin what was answered to another.
  const vary = { vary: 'origin' }
  const allowed = new Map(origins.map((origin) => [origin, { ...headersFor(origin), ...vary }]))
  const others = { ...base, ...vary }
  return (url, origin) => (isShared(url) ? (origin !== undefined && allowed.get(origin)) || others : base)
}

export interface OptionsAnswer {
  /** The methods that a path has. */
  methodsOf(path: string): readonly string[]
}

/**
 * Answers OPTIONS on shared paths where no route does, and returns whether it did: a preflight for every path, so that
 * the page can read the refusal that follows; anything else with the methods of the path, where it has some.
 */
export function createOptionsAnswer({ methodsOf }: OptionsAnswer) {
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

function allowMethods(reply: FastifyReply, askedHeaders: string | undefined): void {
  reply.header('access-control-allow-methods', methods).header('access-control-max-age', maxAgeSeconds)
  if (askedHeaders === undefined) return
  reply.header('access-control-allow-headers', askedHeaders)
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
