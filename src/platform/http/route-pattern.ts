/** What metrics and traces call a route: its URL pattern without the regular expressions of its parameters. */
import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for every route when it is added. */
    pattern?: string
  }
}

/** Call before routes are added. */
export function nameRoutes(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, pattern: patternOf(route.url) }
  })
}

/** `/products/:id(^[0-9]+$)` is `/products/:id`. */
export function patternOf(url: string): string {
  if (!url.includes('(')) return url
  let pattern = ''
  let depth = 0
  // As the router reads them: a parenthesis after a backslash is none.
  for (const [part] of url.matchAll(/\\.|./gs)) {
    if (part === '(') depth += 1
    if (depth === 0) pattern += part
    if (part === ')') depth -= 1
  }
  return pattern
}
