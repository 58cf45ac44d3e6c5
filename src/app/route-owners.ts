/** Two features that add the same route, or the same page, stop the start, with the names of both. */
import type { FastifyInstance } from 'fastify'
import { ownerOf } from '../platform/http/named-plugin.ts'
import { clash, ourselves } from './clashes.ts'

/** Call it before any route is added. */
export function requireUniqueRoutes(app: FastifyInstance): void {
  const taken = new Map<string, string>()
  app.addHook('onRoute', function ({ method: methods, url }) {
    const feature = ownerOf(this) ?? ourselves
    for (const method of [methods].flat()) {
      // However its parameters are named, it is the same route.
      const route = `${method} ${url.replace(/:[^/(]+/g, ':')}`
      const other = taken.get(route) ?? feature
      if (other !== feature) throw clash(`route ${method} ${url}`, { feature, other })
      taken.set(route, feature)
    }
  })
}
