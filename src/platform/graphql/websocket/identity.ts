/** The user of a socket, watched while it is open: sessions may be revoked and rights may change. */

import type { LiveAccess } from '../../access/live-access.ts'
import { type Authenticate, freshMs, type Principal } from '../../access/route-guards.ts'

export interface IdentityOptions {
  authenticate: Authenticate
  liveAccess: Pick<LiveAccess, 'watch'>
  /** The user's rights have changed. */
  onChange(principal: Principal): void
  /** The token is no longer valid. */
  onEnd(): void
}

export class Identity {
  principal: Principal | undefined
  readonly #options: IdentityOptions
  #token: string | undefined
  #checkedAt = 0
  #unwatch: (() => void) | undefined

  constructor(options: IdentityOptions) {
    this.#options = options
  }

  /** Returns false if the token is invalid. Starts watching it, unless the socket has been closed meanwhile. */
  async authenticate(token: string, isStillOpen: () => boolean): Promise<boolean> {
    const { authenticate, liveAccess, onEnd } = this.#options
    const principal = await authenticate(token)
    if (!principal) return false
    if (!isStillOpen()) return true
    this.#unwatch?.()
    this.#token = token
    this.#keep(principal)
    this.#unwatch = liveAccess.watch({
      token,
      principal,
      authenticate,
      onChange: (fresh) => {
        this.principal = fresh
        this.#options.onChange(fresh)
      },
      onEnd,
    })
    return true
  }

  /** Each operation needs a valid token, as over HTTP. The watch may be notified of its end later. */
  async isStillValid(): Promise<boolean> {
    if (this.#token === undefined || performance.now() - this.#checkedAt < freshMs) return true
    const principal = await this.#options.authenticate(this.#token)
    if (principal) this.#keep(principal)
    return principal !== undefined
  }

  release(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }

  #keep(principal: Principal): void {
    this.principal = principal
    this.#checkedAt = performance.now()
  }
}
