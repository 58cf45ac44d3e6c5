/** Unknown paths are 404; known paths with another method are 405 and say which methods there are. */
import type { FastifyInstance } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { AppError } from '../../core/app-error.ts'
import { httpErrors, sendError } from './errors.ts'

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Call before any route is added. The framework cannot tell which methods a path has, so a second router remembers. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const router = findMyWay()
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat() as HTTPMethod[]) {
      if (!router.hasRoute(each, url)) router.on(each, url, () => {})
    }
  })
  // Before the body is read: whatever it is, nobody wants it.
  app.addHook('onRequest', (request, _reply, next) => next(request.is404 ? refusalOf(request.url) : undefined))
  app.setNotFoundHandler((request, reply) => void sendError(refusalOf(request.url), request, reply))

  function refusalOf(url: string): AppError {
    const [path = '/'] = url.split('?', 1)
    const allowed = methods.filter((method) => router.find(method, path) !== null)
    return allowed.length > 0 ? httpErrors.methodNotAllowed(allowed) : httpErrors.notFound()
  }
}
