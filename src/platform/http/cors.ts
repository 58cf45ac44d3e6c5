/** Lets pages of other origins use a plugin's routes. Tokens travel in a header, never in a cookie: no credentials. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from './vary.ts'

export interface CorsOptions {
  /** `*` stands for all. */
  origins: readonly string[]
  /** The paths below the plugin's prefix that browsers may ask about, each with its methods. */
  paths: Readonly<Record<string, readonly string[]>>
  /** The headers of answers that a page may read. */
  exposed: readonly string[]
}

const maxAgeSeconds = 86_400

/** Refusals carry the headers too: a page could not read them otherwise. */
export function allowOrigins(app: FastifyInstance, { origins, paths, exposed }: CorsOptions): void {
  const isOpen = origins.includes('*')
  const allowed = new Set(origins)
  const headersFor = (origin: string) => ({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed.join(', '),
  })
  const headersForAll = headersFor('*')

  function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
    if (isOpen) {
      reply.headers(headersForAll)
      return
    }
    const { origin } = request.headers
    if (origin !== undefined && allowed.has(origin)) reply.headers(headersFor(origin))
    // A cache must not hand one origin what was answered to another.
    addVary(reply, 'origin')
  }

  app.addHook('onRequest', (request, reply, next) => {
    setHeaders(request, reply)
    next()
  })
  app.onUnknownPath(setHeaders)

  for (const [path, methods] of Object.entries(paths)) {
    app.options(path, { config: { access: 'public', docs: false } }, async (request, reply) => {
      const asked = request.headers['access-control-request-headers']
      if (asked !== undefined) {
        reply.header('access-control-allow-headers', asked)
        addVary(reply, 'access-control-request-headers')
      }
      return reply
        .code(204)
        .header('allow', [...methods, 'OPTIONS'].join(', '))
        .header('access-control-allow-methods', methods.join(', '))
        .header('access-control-max-age', maxAgeSeconds)
        .send()
    })
  }
}
