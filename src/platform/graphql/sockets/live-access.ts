/** What keeps watch over the tokens of open sockets. */
import type { Principal } from '../../http/access.ts'

export interface WatchedAccess {
  readonly token: string
  readonly principal: Principal
  /** The user's rights are others now. */
  onChange(principal: Principal): void
  /** The token is no longer good. */
  onEnd(): void
}

/** Answers how to stop watching. */
export type WatchAccess = (connection: WatchedAccess) => () => void
