/** Every route declares who may use it. A route without a declaration stops the start. */
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { AuditEvent } from '../audit/audit.ts'
import { httpErrors } from '../http/http-errors.ts'
import { ownerOf } from '../http/named-plugin.ts'
import {
  authorize,
  type Requirement as BareRequirement,
  impliedKeyPermission,
  isOpen,
  isTokenOptional,
  type Policies,
} from './authorize.ts'
import { type ActingKey, isClosedToKeys, type KeyRules, refusalOf } from './program-keys.ts'

export type FindEntity = (request: FastifyRequest) => Promise<unknown>

/**
 * `authenticated` requires a valid access token. A policy is checked against the entity, which is loaded first; without
 * one the response is 404.
 */
export type Requirement = BareRequirement<FindEntity>

/** All requirements of a list must be met. */
export type Access = Requirement | readonly Requirement[]

/**
 * The user behind a valid access token. While a subscription, a stream or a request is open, its principal is updated in
 * place: roles, permissions and name are always current, and once the token is no longer valid, there are none.
 */
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

/** Routes with these methods change no data. */
export const safeMethods = ['GET', 'HEAD', 'OPTIONS']

export type Guard = (request: FastifyRequest) => Promise<void>

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
 * returns the requirements of a route, those of its plugin first; call it once all routes are declared. `guardOf`
 * returns what checks them, also while a request is being served: it rejects if they are no longer met.
 */
export function guardRoutes(
  app: FastifyInstance,
  options: GuardOptions,
): {
  requirementsOf(route: RouteOptions): readonly Requirement[]
  guardOf(request: FastifyRequest): Guard | undefined
} {
  const { keys } = options
  /** Routes, with the features that add them. */
  const undeclared = new Map<string, string | undefined>()
  const declared = new WeakMap<RouteOptions, Requirement[]>()
  const guards = new WeakSet<Guard>()
  const byRoute = new Map<string, Guard>()
  app.decorateRequest('principal', undefined)
  app.decorateRequest('entity', undefined)
  app.decorateRequest('identify', undefined)

  app.addHook('onRoute', function (route) {
    const access = route.config?.access
    if (access === undefined || (Array.isArray(access) && access.length === 0)) {
      undeclared.set(nameOf(route), ownerOf(this))
      removeGuards(route)
    } else putOn(route, access)
  })
  // A plugin's hook runs after the one above. Its requirement is checked first.
  app.decorate('requireForAll', function requireForAll(this: FastifyInstance, access: Access) {
    this.addHook('onRoute', (route) => {
      undeclared.delete(nameOf(route))
      putOn(route, access)
    })
  })
  app.addHook('onReady', async () => {
    const byFeature = Map.groupBy(undeclared, ([, feature]) => feature)
    const problems = [...byFeature].map(([feature, routes]) => {
      const problem = `these routes declare no access: ${routes.map(([route]) => route).join('; ')}`
      return feature === undefined ? problem : `feature ${feature}: ${problem}`
    })
    if (problems.length > 0) throw new FatalError(problems, exitCodes.configuration)
  })

  return {
    requirementsOf: (route) => declared.get(route) ?? [],
    guardOf: ({ routeOptions: { method, url = '' } }) => byRoute.get(nameOf({ method, url })),
  }

  function putOn(route: RouteOptions, access: Access): void {
    const requirements = [...([access].flat() as Requirement[]), ...(declared.get(route) ?? [])]
    declared.set(route, requirements)
    removeGuards(route)
    const isChange = [route.method].flat().some((method) => !safeMethods.includes(method))
    if (requirements.every(isOpen)) {
      const guard = createOpenGuard(route, { requirements, isChange })
      if (guard) put(route, 'onRequest', guard)
      return
    }
    const guard = createGuard({ requirements, isChange }, options)
    byRoute.set(nameOf(route), guard)
    put(route, 'onRequest', guard)
    // A role or the session may have been lost while a slow body arrived.
    put(route, 'preHandler', async (request) => {
      if (performance.now() - request.startedAt < freshMs) return
      request.principal = undefined
      await guard(request)
    })
  }

  function put(route: RouteOptions, hook: 'onRequest' | 'preHandler', guard: Guard): void {
    guards.add(guard)
    route[hook] = [guard, ...[route[hook] ?? []].flat()]
  }

  /** Those of a plugin's requirements before; and Fastify derives HEAD from GET and copies the guards of GET. */
  function removeGuards(route: RouteOptions): void {
    route.onRequest = [route.onRequest ?? []].flat().filter((handler) => !guards.has(handler as Guard))
    route.preHandler = [route.preHandler ?? []].flat().filter((handler) => !guards.has(handler as Guard))
  }

  /** An open route asks for no token; a key that comes along is refused all the same where keys may not be used. */
  function createOpenGuard(route: RouteOptions, { requirements, isChange }: GuardedRoute): Guard | undefined {
    if (!keys) return undefined
    const keyOf = ({ headers }: FastifyRequest) => {
      const token = bearerOf(headers.authorization ?? '')
      return token !== undefined && keys.isKey(token) ? token : undefined
    }
    if ([route.method].flat().some((method) => !keys.mayReach({ method, path: route.url }))) {
      return async (request) => {
        const token = keyOf(request)
        if (token === undefined) return
        throw (await options.authenticate(token)) ? httpErrors.forbidden() : await refusalOf(token, keys)
      }
    }
    const needed = impliedKeyPermission(requirements, isChange)
    if (needed === null) return undefined
    return async (request) => {
      // Pages do not look at tokens.
      if (request.identify) return
      const token = keyOf(request)
      const principal = token === undefined ? undefined : await options.authenticate(token)
      if (principal?.key?.allows?.(needed) === false) throw httpErrors.forbidden()
    }
  }
}

function nameOf({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string {
  return `${[method].flat().join(', ')} ${url}`
}

interface GuardedRoute {
  requirements: readonly Requirement[]
  isChange: boolean
}

function createGuard(
  { requirements, isChange }: GuardedRoute,
  { authenticate, policies, keys, onForbidden }: GuardOptions,
): Guard {
  const isOptional = isTokenOptional(requirements)
  for (const each of requirements) {
    if (typeof each === 'object' && 'policy' in each) policies.requireKnown(each.policy, each.action)
  }

  async function identify(request: FastifyRequest): Promise<void> {
    if (request.identify) {
      request.principal ??= await request.identify(request)
      if (!request.principal && !isOptional) throw httpErrors.missingToken()
      return
    }
    if (request.principal || (isOptional && !isBearer(request.headers.authorization))) return
    const token = requireBearer(request)
    request.principal = await authenticate(token)
    if (!request.principal) throw await refusalOf(token, keys)
  }

  return async (request) => {
    await identify(request)
    if (request.principal?.key && isClosedToKeys(keys, request)) {
      await onForbidden?.(request)
      throw httpErrors.forbidden()
    }
    const { verdict, entity } = await authorize({
      requirements,
      isChange,
      user: request.principal,
      findEntity: (find) => find(request),
      policies,
    })
    if (verdict === 'forbidden') await onForbidden?.(request)
    if (verdict !== 'allowed') throw refusals[verdict]()
    if (entity !== undefined) request.entity = entity
  }
}

/** The error of each verdict. */
export const refusals = {
  unauthenticated: httpErrors.missingToken,
  forbidden: httpErrors.forbidden,
  not_found: httpErrors.notFound,
}

/** Other schemes are ignored, because they may be meant for a proxy in front of the service. */
export function isBearer(authorization = ''): boolean {
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
