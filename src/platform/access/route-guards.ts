/** Every route declares who may use it. A route without a declaration stops the start. */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { AuditEvent } from '../audit/audit.ts'
import { httpErrors } from '../http/http-errors.ts'
import { authorize, type Requirement as BareRequirement, type Policies } from './authorize.ts'
import { type ActingKey, isClosedToKeys, type KeyRules } from './program-keys.ts'

export type FindEntity = (request: FastifyRequest) => Promise<unknown>

/**
 * `authenticated` requires a valid access token. A policy is checked against the entity, which is loaded first; without
 * one the response is 404.
 */
export type Requirement = BareRequirement<FindEntity>

/** All requirements of a list must be met. */
export type Access = Requirement | readonly Requirement[]

/** The user behind a valid access token. */
export interface Principal {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly roles: readonly string[]
  readonly tokenVersion: number
  hasRole(role: string): boolean
  can(permission: string): boolean
  /** The token family. */
  readonly session: string
  readonly token: { readonly id: string; readonly expiresAt: number }
  /** Where a program's key acts for the user. There is no session then: `session` and `token.id` name the key. */
  readonly key?: ActingKey
}

/** Returns undefined for a token that is invalid, expired or revoked. */
export type Authenticate = (token: string) => Promise<Principal | undefined>

/** For routes whose id in the path is not a user's. */
export interface RefusedAct {
  event: AuditEvent
  /** What the id is of. It is recorded with the changes, under this name. */
  entity: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** The audit event that a 403 of this route is recorded with. */
    audit?: AuditEvent | RefusedAct
  }
  interface FastifyRequest {
    principal: Principal | undefined
    /** Authenticates by something other than the Authorization header. Never set on routes of the API. */
    identify: ((request: FastifyRequest) => Promise<Principal | undefined>) | undefined
    /** The entity that the route's policy was checked against. */
    entity: unknown
  }
  interface FastifyInstance {
    /** Adds a requirement to all routes of this plugin. Call it before adding routes. */
    requireForAll(access: Access): void
  }
}

/** How long the result of a token check is reused, such as while the rest of the request arrives. */
export const freshMs = 50

type Guard = (request: FastifyRequest) => Promise<void>

export interface GuardOptions {
  authenticate: Authenticate
  policies: Policies<Principal>
  /** Rules for API keys, if there are any. */
  keys?: KeyRules | undefined
  /** Called before a request is refused with 403. */
  onForbidden?(request: FastifyRequest): Promise<void>
}

/**
 * Call before adding any route. Guards run before the body is read, so 401 and 403 come before 422. `requirementsOf`
 * returns the requirements of a route, those of its plugin first; call it once all routes are declared.
 */
export function guardRoutes(
  app: FastifyInstance,
  options: GuardOptions,
): { requirementsOf(route: RouteOptions): readonly Requirement[] } {
  const { keys } = options
  const undeclared = new Set<string>()
  const declared = new WeakMap<RouteOptions, Requirement[]>()
  const guards = new WeakSet<Guard>()
  app.decorateRequest('principal', undefined)
  app.decorateRequest('entity', undefined)
  app.decorateRequest('identify', undefined)

  app.addHook('onRoute', (route) => {
    // Fastify derives HEAD from GET and copies the guards of GET; they would run twice.
    route.onRequest = [route.onRequest ?? []].flat().filter((handler) => !guards.has(handler as Guard))
    route.preHandler = [route.preHandler ?? []].flat().filter((handler) => !guards.has(handler as Guard))
    const access = route.config?.access
    if (access === undefined || (Array.isArray(access) && access.length === 0)) undeclared.add(nameOf(route))
    else putOn(route, access)
  })
  // A plugin's hook runs after the one above and prepends its guard, so its requirement is checked first.
  app.decorate('requireForAll', function requireForAll(this: FastifyInstance, access: Access) {
    this.addHook('onRoute', (route) => {
      undeclared.delete(nameOf(route))
      putOn(route, access)
    })
  })
  app.addHook('onReady', async () => {
    if (undeclared.size > 0) throw new Error(`these routes declare no access: ${[...undeclared].join('; ')}`)
  })

  return { requirementsOf: (route) => declared.get(route) ?? [] }

  function putOn(route: RouteOptions, access: Access): void {
    const requirements = [access].flat() as Requirement[]
    declared.set(route, [...requirements, ...(declared.get(route) ?? [])])
    if (requirements.every((requirement) => requirement === 'public')) {
      if (keys) putOnKeyGuard(route, keys)
      return
    }
    const guard = createGuard(requirements, options)
    const guardAgain: Guard = async (request) => {
      if (performance.now() - request.startedAt < freshMs) return
      request.principal = undefined
      await guard(request)
    }
    guards.add(guard).add(guardAgain)
    route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
    // A role or the session may have been lost while a slow body arrived.
    route.preHandler = [guardAgain, ...[route.preHandler ?? []].flat()]
  }

  /** A public route asks for no token; where it is closed to keys, a key that comes along is refused all the same. */
  function putOnKeyGuard(route: RouteOptions, { isKey, mayReach }: KeyRules): void {
    if ([route.method].flat().every((method) => mayReach({ method, path: route.url }))) return
    const guard: Guard = async ({ headers }) => {
      const token = bearerOf(headers.authorization ?? '')
      if (token !== undefined && isKey(token)) throw httpErrors.forbidden()
    }
    guards.add(guard)
    route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
  }
}

function nameOf({ method, url }: RouteOptions): string {
  return `${[method].flat().join(', ')} ${url}`
}

function createGuard(
  requirements: readonly Requirement[],
  { authenticate, policies, keys, onForbidden }: GuardOptions,
): Guard {
  const isTokenOptional = requirements.every(
    (each) => each === 'public' || (typeof each === 'object' && 'policy' in each),
  )
  for (const each of requirements) {
    if (typeof each === 'object' && 'policy' in each) policies.requireKnown(each.policy, each.action)
  }

  async function identify(request: FastifyRequest): Promise<void> {
    if (request.identify) {
      request.principal ??= await request.identify(request)
      if (!request.principal && !isTokenOptional) throw httpErrors.missingToken()
      return
    }
    if (request.principal || (isTokenOptional && !isBearer(request.headers.authorization))) return
    request.principal = await authenticate(requireBearer(request))
    if (!request.principal) throw httpErrors.invalidToken()
  }

  return async (request) => {
    await identify(request)
    if (request.principal?.key && isClosedToKeys(keys, request)) {
      await onForbidden?.(request)
      throw httpErrors.forbidden()
    }
    for (const requirement of requirements) {
      const { verdict, entity } = await authorize({
        requirement,
        user: request.principal,
        findEntity: (find) => find(request),
        policies,
      })
      if (verdict === 'forbidden') await onForbidden?.(request)
      if (verdict !== 'allowed') throw refusals[verdict]()
      if (entity !== undefined) request.entity = entity
    }
  }
}

/** The error of each verdict. */
export const refusals = {
  unauthenticated: httpErrors.missingToken,
  forbidden: httpErrors.forbidden,
  not_found: httpErrors.notFound,
}

/** Other schemes are ignored, because they may be meant for a proxy in front of the service. */
function isBearer(authorization = ''): boolean {
  const scheme = authorization.slice(0, 'bearer '.length).toLowerCase()
  return scheme === 'bearer ' || scheme === 'bearer'
}

/** The token of `Bearer …`; undefined for another scheme or no token. */
export function bearerOf(authorization: string): string | undefined {
  // No pattern for the token itself: on a WebSocket this text can be as large as a message.
  if (!/^Bearer /i.test(authorization)) return undefined
  return authorization.slice('Bearer '.length).trim() || undefined
}

export function requireBearer(request: FastifyRequest): string {
  const token = bearerOf(request.headers.authorization ?? '')
  if (token === undefined) throw httpErrors.missingToken()
  return token
}

/** For handlers of routes that require authentication. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error(`${request.url} asks for its user but does not require one`)
  return request.principal
}
