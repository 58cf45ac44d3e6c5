/** Unknown paths are 404; known paths with another method are 405, with the `Allow` header. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { AppError } from '../../core/app-error.ts'
import { isShared } from './cors.ts'
import { httpErrors, sendError } from './http-errors.ts'
import { pathOf } from './request-path.ts'

const methods: HTTPMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

export interface UnknownRoutes {
  refusalOf(request: FastifyRequest): AppError
  /** Empty for unknown paths. */
  methodsOf(path: string): string[]
}

interface Route {
  method: HTTPMethod
  path: string
}

/**
 * Call before any route is added. Returns `refusalOf`, so that requests without a route can be refused before their
 * body is read. Fastify cannot list the methods of a path, so a second router does.
 */
export function handleUnknownRoutes(app: FastifyInstance): UnknownRoutes {
  const routes: Route[] = []
  let isRoute: ((method: HTTPMethod, path: string) => boolean) | undefined
  app.addHook('onRoute', ({ method, url, prefix }) => {
    // The root of a plugin is served with and without a trailing slash, but reported once.
    const paths = prefix !== '' && url === prefix ? [url, `${url}/`] : [url]
    for (const each of [method].flat() as HTTPMethod[]) {
      for (const path of paths) routes.push({ method: each, path })
    }
  })
  app.setNotFoundHandler((request, reply) => void sendError(refusalOf(request), request, reply))
  return { refusalOf, methodsOf }

  function refusalOf(request: FastifyRequest): AppError {
    const allowed = methodsOf(pathOf(request.url))
    return allowed.length > 0 ? httpErrors.methodNotAllowed(allowed) : httpErrors.notFound()
  }

  function methodsOf(path: string): string[] {
    // Made with the first such request: it would be a tenth of the start.
    isRoute ??= createRouter(routes)
    const found = methods.filter((method) => isRoute?.(method, path))
    const hasOptions = isRoute('OPTIONS', path) || (found.length > 0 && isShared(path))
    return hasOptions ? [...found, 'OPTIONS'] : found
  }
}

function createRouter(routes: readonly Route[]): (method: HTTPMethod, path: string) => boolean {
  const router = findMyWay()
  for (const { method, path } of routes) {
    if (!router.hasRoute(method, path)) router.on(method, path, () => {})
  }
  return (method, path) => router.find(method, path) !== null
}
