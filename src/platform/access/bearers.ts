/** The tokens of open connections, and the connections of each token. */
import { rolesBehind } from './live-principal.ts'
import type { Authenticate, Principal } from './route-guards.ts'

export interface Watched {
  readonly token: string
  /** How the token is verified. Defaults to verifying an access token. */
  readonly authenticate?: Authenticate
  /** Updated in place. Not shared with another connection. */
  readonly principal: Principal
  /** Called when the roles have changed, after the principal was updated. */
  onChange(): void
  /** Called once, when the token is no longer valid. The connection is no longer watched. */
  onEnd(): void
}

/** A token and its open connections. */
export interface Bearer {
  token: string
  authenticate: Authenticate
  userId: number
  expiresAt: number
  /** Each with the roles that it was last notified of. */
  connections: Map<Watched, readonly string[]>
}

export class Bearers {
  readonly #byToken = new Map<string, Bearer>()
  readonly #byUser = new Map<number, Set<Bearer>>()
  readonly #authenticate: Authenticate

  /** `authenticate` is the default for connections without their own. */
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
    bearer.connections.set(connection, rolesBehind(principal))
    return bearer
  }

  /** Returns whether it was the bearer's last connection; the bearer is then removed too. */
  remove(bearer: Bearer, connection: Watched): boolean {
    if (!bearer.connections.delete(connection) || bearer.connections.size > 0) return false
    this.#byToken.delete(bearer.token)
    const others = this.#byUser.get(bearer.userId)
    others?.delete(bearer)
    if (others?.size === 0) this.#byUser.delete(bearer.userId)
    return true
  }
}
