/** Who a client is, and whether it still is. */

import type { LiveAccess } from '../../access/live-access.ts'
import { type Authenticate, freshMs, type Principal } from '../../access/route-guards.ts'

export interface IdentityOptions {
  authenticate: Authenticate
  liveAccess: Pick<LiveAccess, 'watch'>
  /** Its rights have changed. */
  onChange(principal: Principal): void
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

  /** From then on it is watched. Returns false where the token is not good. `isWanted` tells whether anybody still waits. */
  async prove(token: string, isWanted: () => boolean): Promise<boolean> {
    const { authenticate, liveAccess, onEnd } = this.#options
    const principal = await authenticate(token)
    if (!principal) return false
    if (!isWanted()) return true
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

  /** As over HTTP, whoever asks for something has a good token at that time. The watch may hear of its end later. */
  async isStillGood(): Promise<boolean> {
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
