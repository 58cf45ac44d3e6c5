/** Unknown paths are 404; known paths with another method are 405 and say which methods there are. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { AppError } from '../../core/app-error.ts'
import { httpErrors, sendError } from './errors.ts'

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Call before any route is added. Answers how to refuse a request that no route takes, so that this can be done before
 * its body is read. The framework cannot tell which methods a path has, so a second router remembers.
 */
export function answerUnknownRoutes(app: FastifyInstance): { refusalOf(request: FastifyRequest): AppError } {
  const router = findMyWay()
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat() as HTTPMethod[]) {
      if (!router.hasRoute(each, url)) router.on(each, url, () => {})
    }
  })
  app.setNotFoundHandler((request, reply) => void sendError(refusalOf(request), request, reply))
  return { refusalOf }

  function refusalOf(request: FastifyRequest): AppError {
    const [path = '/'] = request.url.split('?', 1)
    const allowed = methods.filter((method) => router.find(method, path) !== null)
    return allowed.length > 0 ? httpErrors.methodNotAllowed(allowed) : httpErrors.notFound()
  }
}
