/**
 * Keys of programs. A key acts for a user without being a session of theirs, so some places are closed to it. Which ones,
 * the feature that offers sign-in says.
 */
import type { FastifyRequest } from 'fastify'
import type { AppError } from '../../core/app-error.ts'
import { httpErrors } from '../http/http-errors.ts'
import { pathOf } from '../http/request-path.ts'

/** The key that acts for a user. */
export interface ActingKey {
  /** What the user themselves may do. */
  readonly owner: { can(permission: string): boolean; hasRole(role: string): boolean }
  readonly id: string
  readonly name: string
  /** Of the user. They may change while those of the key stay. */
  readonly ownerRoles: readonly string[]
  /** Whether its list of permissions allows one. Undefined for a key without such a list. */
  allows?(permission: string): boolean
}

export interface Place {
  method: string
  /** Decoded, or the pattern of a route. */
  path: string
}

export interface KeyRules {
  /** By its form alone. */
  isKey(token: string): boolean
  /** Whether a key that was refused has expired. */
  isExpired(token: string): Promise<boolean>
  /** Whether keys may be used there at all. */
  mayReach(place: Place): boolean
}

/** The refusal of a token. That a key has expired is told to whoever has it. */
export async function refusalOf(token: string, keys: KeyRules | undefined): Promise<AppError> {
  const isExpired = keys?.isKey(token) === true && (await keys.isExpired(token))
  return httpErrors.invalidToken(isExpired ? 'The API key has expired' : undefined)
}

/** By the route, and by the path itself: a route with parameters may serve a path that another feature closed. */
export function isClosedToKeys(rules: KeyRules | undefined, request: FastifyRequest): boolean {
  if (!rules) return false
  const { method, url, routeOptions } = request
  const path = decodedPath(url)
  return [routeOptions.url, path].some((each) => each === undefined || !rules.mayReach({ method, path: each }))
}

/** Undefined where it cannot be decoded. */
function decodedPath(url: string): string | undefined {
  try {
    return decodeURIComponent(pathOf(url))
  } catch {
    return undefined
  }
}
