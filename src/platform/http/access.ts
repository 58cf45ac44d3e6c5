/** Every endpoint says who may use it. One that says nothing stops the start-up. */
import type { FastifyInstance } from 'fastify'

/** `public`: anybody, with or without a token. */
export type Access = 'public'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
}

/** Call before any route is added. */
export function requireAccessDeclarations(app: FastifyInstance): void {
  const undeclared: string[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined) undeclared.push(`${[method].flat().join(', ')} ${url}`)
  })
  app.addHook('onReady', async () => {
    if (undeclared.length > 0) throw new Error(`these routes declare no access: ${undeclared.join('; ')}`)
  })
}
