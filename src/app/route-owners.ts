/** Two features that add the same route, or the same page, stop the start, with the names of both. */
import type { FastifyInstance } from 'fastify'
import { clash, ourselves } from './clashes.ts'

const owner: unique symbol = Symbol('the feature that adds routes here')

declare module 'fastify' {
  interface FastifyInstance {
    [owner]?: string
  }
}

/** For a plugin of the feature's own. Plugins inside of it inherit the mark. */
export function markRoutes(app: FastifyInstance, feature: string): void {
  app[owner] = feature
}

/** Call it before features add their routes. */
export function requireUniqueRoutes(app: FastifyInstance): void {
  const taken = new Map<string, string>()
  app.addHook('onRoute', function ({ method: methods, url }) {
    const feature = this[owner] ?? ourselves
    for (const method of [methods].flat()) {
      // However its parameters are named, it is the same route.
      const route = `${method} ${url.replace(/:[^/(]+/g, ':')}`
      const other = taken.get(route) ?? (app.hasRoute({ method, url }) ? ourselves : feature)
      if (other !== feature) throw clash(`route ${method} ${url}`, { feature, other })
      taken.set(route, feature)
    }
  })
}
