/**
 * Keys of programs. A key acts for a user without being a session of theirs, so some places are closed to it. Which ones,
 * the feature that offers sign-in says.
 */
import type { FastifyRequest } from 'fastify'
import { pathOf } from '../http/request-path.ts'

/** The key that acts for a user. */
export interface ActingKey {
  readonly id: string
  readonly name: string
  /** Of the user. They may change while those of the key stay. */
  readonly ownerRoles: readonly string[]
}

export interface Place {
  method: string
  /** Decoded, or the pattern of a route. */
  path: string
}

export interface KeyRules {
  /** By its form alone. */
  isKey(token: string): boolean
  /** Whether keys may be used there at all. */
  mayReach(place: Place): boolean
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
