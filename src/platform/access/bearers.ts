/** The tokens that hold connections open, and the connections of each. */
import type { Authenticate, Principal } from './route-guards.ts'

export interface Watched {
  readonly token: string
  /** How the token is looked up; without, it is an access token. */
  readonly authenticate?: Authenticate
  /** What the token was found to stand for. */
  readonly principal: Principal
  /** The roles are others now. */
  onChange(principal: Principal): void
  /** The token is no longer good. Called once; the connection is not watched any more. */
  onEnd(): void
}

/** A token, with all the connections that it holds open. */
export interface Bearer {
  token: string
  authenticate: Authenticate
  userId: number
  expiresAt: number
  /** Each with the principal as it last heard of it. */
  connections: Map<Watched, Principal>
}

export class Bearers {
  readonly #byToken = new Map<string, Bearer>()
  readonly #byUser = new Map<number, Set<Bearer>>()
  readonly #authenticate: Authenticate

  /** `authenticate` is for connections that bring none of their own. */
  constructor(authenticate: Authenticate) {
    this.#authenticate = authenticate
  }

  get size(): number {
    return this.#byToken.size
  }

  all(): MapIterator<Bearer> {
    return this.#byToken.values()
  }

  ofUser(id: number): Iterable<Bearer> {
    return this.#byUser.get(id) ?? []
  }

  add(connection: Watched): Bearer {
    const { token, principal } = connection
    let bearer = this.#byToken.get(token)
    if (!bearer) {
      bearer = {
        token,
        authenticate: connection.authenticate ?? this.#authenticate,
        userId: principal.id,
        expiresAt: principal.token.expiresAt,
        connections: new Map(),
      }
      this.#byToken.set(token, bearer)
      this.#byUser.set(bearer.userId, (this.#byUser.get(bearer.userId) ?? new Set()).add(bearer))
    }
    bearer.connections.set(connection, principal)
    return bearer
  }

  /** Returns whether it was the last connection of the bearer, which is then forgotten. */
  remove(bearer: Bearer, connection: Watched): boolean {
    if (!bearer.connections.delete(connection) || bearer.connections.size > 0) return false
    this.#byToken.delete(bearer.token)
    const others = this.#byUser.get(bearer.userId)
    others?.delete(bearer)
    if (others?.size === 0) this.#byUser.delete(bearer.userId)
    return true
  }
}
