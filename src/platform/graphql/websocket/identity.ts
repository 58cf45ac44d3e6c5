/** The user of a socket, watched while it is open: sessions may be revoked and rights may change. */

import type { LiveAccess } from '../../access/live-access.ts'
import { updatePrincipal } from '../../access/live-principal.ts'
import { type Authenticate, freshMs, type Principal } from '../../access/route-guards.ts'

export interface IdentityOptions {
  authenticate: Authenticate
  liveAccess: Pick<LiveAccess, 'watch'>
  /** The user's rights have changed. `principal` is updated. */
  onChange(): void
  /** The token is no longer valid. */
  onEnd(): void
}

export class Identity {
  /** Stays the same object while the socket is open, and is always current. */
  principal: Principal | undefined
  /** How often the rights have changed. */
  changes = 0
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
    this.principal = principal
    this.#checkedAt = performance.now()
    this.#unwatch = liveAccess.watch({
      token,
      principal,
      authenticate,
      onChange: () => {
        this.changes += 1
        this.#options.onChange()
      },
      onEnd,
    })
    return true
  }

  /** Each operation needs a valid token, as over HTTP. The watch may be notified of its end later. */
  async isStillValid(): Promise<boolean> {
    if (this.#token === undefined || performance.now() - this.#checkedAt < freshMs) return true
    const principal = await this.#options.authenticate(this.#token)
    if (!principal || !this.principal) return false
    updatePrincipal(this.principal, principal)
    this.#checkedAt = performance.now()
    return true
  }

  release(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
  }
}
