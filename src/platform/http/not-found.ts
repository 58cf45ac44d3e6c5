/** Unknown paths are 404; known paths with another method are 405 and say which methods there are. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { AppError } from '../../core/app-error.ts'
import { httpErrors, sendError } from './errors.ts'

type Prepare = (request: FastifyRequest, reply: FastifyReply) => void

declare module 'fastify' {
  interface FastifyInstance {
    /** What the refusals of this plugin's unknown paths need beside, such as headers. */
    onUnknownPath(prepare: Prepare): void
  }
}

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export interface UnknownRoutes {
  refusalOf(request: FastifyRequest, reply: FastifyReply): AppError
}

/**
 * Call before any route is added. Answers how to refuse a request that no route takes, so that this can be done before
 * its body is read. The framework cannot tell which methods a path has, so a second router remembers.
 */
export function answerUnknownRoutes(app: FastifyInstance): UnknownRoutes {
  const router = findMyWay()
  const prepares: { prefix: string; prepare: Prepare }[] = []
  app.addHook('onRoute', ({ method, url, prefix }) => {
    // The root of a plugin is served with and without a slash, and the framework tells of it once.
    const urls = prefix !== '' && url === prefix ? [url, `${url}/`] : [url]
    for (const each of [method].flat() as HTTPMethod[]) {
      for (const path of urls) if (!router.hasRoute(each, path)) router.on(each, path, () => {})
    }
  })
  app.decorate('onUnknownPath', function onUnknownPath(this: FastifyInstance, prepare: Prepare) {
    prepares.push({ prefix: this.prefix, prepare })
  })
  app.setNotFoundHandler((request, reply) => void sendError(refusalOf(request, reply), request, reply))
  return { refusalOf }

  function refusalOf(request: FastifyRequest, reply: FastifyReply): AppError {
    const [path = '/'] = request.url.split('?', 1)
    for (const { prefix, prepare } of prepares) {
      if (path === prefix || path.startsWith(`${prefix}/`)) prepare(request, reply)
    }
    const allowed = methods.filter((method) => router.find(method, path) !== null)
    return allowed.length > 0 ? httpErrors.methodNotAllowed(allowed) : httpErrors.notFound()
  }
}
