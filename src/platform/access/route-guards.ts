/** Every endpoint says who may use it. One that says nothing stops the start-up. */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { AuditEvent } from '../audit/audit.ts'
import { httpErrors } from '../http/http-errors.ts'
import { authorize, type Requirement as BareRequirement, type Policies } from './authorize.ts'
import { type ActingKey, isClosedToKeys, type KeyRules } from './program-keys.ts'

export type FindEntity = (request: FastifyRequest) => Promise<unknown>

/**
 * `public`: anybody. `authenticated`: whoever bears a valid access token. A role, a permission: whoever holds it. A
 * policy: whoever its action allows on the entity, which is found before it is asked and 404 where there is none.
 */
export type Requirement = BareRequirement<FindEntity>

/** All of a list must hold. */
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

/** Returns undefined for a token that is not, or no longer, good. */
export type Authenticate = (token: string) => Promise<Principal | undefined>

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Who is refused for lack of a role or a permission is in the audit trail with this event. */
    audit?: AuditEvent
  }
  interface FastifyRequest {
    principal: Principal | undefined
    /** Finds the principal by other means than a token in the header. Routes of the API have none. */
    identify: ((request: FastifyRequest) => Promise<Principal | undefined>) | undefined
    /** What the route's policy was asked about. */
    entity: unknown
  }
  interface FastifyInstance {
    /** A requirement for all routes of this plugin, beside their own. Call it before its routes are added. */
    requireForAll(access: Access): void
  }
}

/** How long the check of a token holds, such as while the rest of the request arrives. */
export const freshMs = 50

type Guard = (request: FastifyRequest) => Promise<void>

export interface GuardOptions {
  authenticate: Authenticate
  policies: Policies<Principal>
  /** Where there are keys of programs. */
  keys?: KeyRules | undefined
  /** Is told of a request before it is refused with 403. */
  onForbidden?(request: FastifyRequest): Promise<void>
}

/**
 * Call before any route is added. Guards run before the body is read: 401 and 403 come before 422. Returns what a route
 * requires, its plugin's requirements first, once all of it is declared.
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
    // The framework makes HEAD from GET and hands the guards of GET along: they are put on anew.
    route.onRequest = [route.onRequest ?? []].flat().filter((handler) => !guards.has(handler as Guard))
    route.preHandler = [route.preHandler ?? []].flat().filter((handler) => !guards.has(handler as Guard))
    const access = route.config?.access
    if (access === undefined || (Array.isArray(access) && access.length === 0)) undeclared.add(nameOf(route))
    else putOn(route, access)
  })
  // A plugin's hook runs after the one above, and puts its guard in front: its requirement is checked first.
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
    // Whoever sends a body slowly may have lost a role, or the session, by the time that it is there.
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

/** What each verdict is answered with. */
export const refusals = {
  unauthenticated: httpErrors.missingToken,
  forbidden: httpErrors.forbidden,
  not_found: httpErrors.notFound,
}

/** Whether the header claims to hold a token of ours. Another scheme may be meant for a proxy in front. */
function isBearer(authorization = ''): boolean {
  const scheme = authorization.slice(0, 'bearer '.length).toLowerCase()
  return scheme === 'bearer ' || scheme === 'bearer'
}

/** The token of `Bearer …`; undefined for another scheme or no token. */
export function bearerOf(authorization: string): string | undefined {
  // No pattern for the token itself: this text comes from anybody, on a socket up to the size of a message.
  if (!/^Bearer /i.test(authorization)) return undefined
  return authorization.slice('Bearer '.length).trim() || undefined
}

/** The token of an `Authorization: Bearer` header. */
export function requireBearer(request: FastifyRequest): string {
  const token = bearerOf(request.headers.authorization ?? '')
  if (token === undefined) throw httpErrors.missingToken()
  return token
}

/** For handlers behind a guard, which has made sure of it. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error(`${request.url} asks for its user but does not require one`)
  return request.principal
}
