/** Every endpoint says who may use it. One that says nothing stops the start-up. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { httpErrors } from './errors.ts'

/** `public`: anybody, with or without a token. `authenticated`: whoever bears a valid access token. */
export type Access = 'public' | 'authenticated'

/** The user behind a valid access token. */
export interface Principal {
  id: number
  email: string
  name: string
  roles: readonly string[]
  /** The token family. */
  session: string
  token: { id: string; expiresAt: number }
}

/** Answers undefined for a token that is not, or no longer, good. */
export type Authenticate = (token: string) => Promise<Principal | undefined>

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    principal: Principal | undefined
  }
}

/** Call before any route is added. The guard runs before the body is read: 401 comes before 422. */
export function guardRoutes(app: FastifyInstance, authenticate: Authenticate): void {
  const undeclared: string[] = []
  app.decorateRequest('principal', undefined)
  app.addHook('onRoute', (route) => {
    const access = route.config?.access
    if (access === undefined) undeclared.push(`${[route.method].flat().join(', ')} ${route.url}`)
    if (access === 'authenticated') route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
  })
  app.addHook('onReady', async () => {
    if (undeclared.length > 0) throw new Error(`these routes declare no access: ${undeclared.join('; ')}`)
  })

  async function guard(request: FastifyRequest): Promise<void> {
    request.principal = await authenticate(requireBearer(request))
    if (!request.principal) throw httpErrors.invalidToken()
  }
}

/** The token of an `Authorization: Bearer` header. */
export function requireBearer(request: FastifyRequest): string {
  const token = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? '')?.[1]
  if (token === undefined) throw httpErrors.missingToken()
  return token
}

/** For handlers behind a guard, which has made sure of it. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error(`${request.url} asks for its user but does not require one`)
  return request.principal
}
