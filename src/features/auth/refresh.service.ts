/** Exchanges refresh tokens for new pairs, and detects reuse. */

import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import type { PairClaims, SessionRow, SessionStore } from './sessions.store.ts'
import type { TokenPair, TokenPairs } from './token-pairs.ts'
import type { Claims, Tokens } from './tokens.ts'

export interface RefreshDeps {
  db: Database
  clock: Clock
  sessions: SessionStore
  tokens: Tokens
  pairs: TokenPairs
  audit: Audit
  onAccessChanged: OnAccessChanged
}

const retrySeconds = 60
const minKeyLength = 16

export function createRefresh({ db, clock, sessions, tokens, pairs, audit, onAccessChanged }: RefreshDeps) {
  interface Given {
    refreshToken: string
    /** The client's Idempotency-Key. */
    retryKey: string | undefined
    client: Client
  }

  async function refresh({ refreshToken, retryKey, client }: Given): Promise<TokenPair> {
    const claims = tokens.read(refreshToken, 'refresh')
    const session = claims && (await sessions.find(claims.family))
    if (!claims || !session || session.revoked_at !== null) throw authErrors.invalidRefreshToken()

    const keyHash = hashKey(retryKey)
    if (session.live_refresh_id === claims.jti) {
      if (claims.exp <= clock.nowSeconds() || claims.ver !== session.token_version)
        throw authErrors.invalidRefreshToken()
      const successor = pairs.make({ id: session.user_id, token_version: claims.ver }, session.id, session.ends_at)
      const { user_id: userId } = session
      const [won] = await db.write<object, object>(
        sessions.rotate({ presented: claims.jti, successor, retryKeyHash: keyHash }),
        audit.entry({ event: 'refresh', outcome: 'success', userId, actorId: userId, client }),
      )
      if (won.length > 0) return pairs.sign(successor)
    }
    // Not the live token, or no longer: either a retry of a request whose response was lost, or reuse.
    return repeatOrRevoke(claims, keyHash, client)
  }

  async function repeatOrRevoke(claims: Claims, keyHash: string | null, client: Client): Promise<TokenPair> {
    const session = await sessions.find(claims.family)
    if (!session || session.revoked_at !== null) throw authErrors.invalidRefreshToken()
    // It lost the race against a change of the token version, not against another refresh.
    if (session.live_refresh_id === claims.jti) throw authErrors.invalidRefreshToken()
    if (isRepeat(session, claims, keyHash)) return pairs.sign(JSON.parse(session.pair) as PairClaims)

    // No actor: it may be the user or a thief.
    const entry = audit.entry({
      event: 'refresh',
      outcome: 'reuse',
      userId: session.user_id,
      actorId: null,
      client,
    })
    const [revoked] = await db.write<object, object>(sessions.revoke(session.id, 'reuse'), entry)
    if (revoked.length > 0) audit.count('refresh', 'reuse')
    await onAccessChanged(session.user_id)
    throw authErrors.invalidRefreshToken()
  }

  /** The same token with the same key, while its successor is the live one, is a retry of the same request. */
  function isRepeat(session: SessionRow, claims: Claims, keyHash: string | null): boolean {
    return (
      keyHash !== null &&
      session.retry_key_hash === keyHash &&
      session.previous_refresh_id === claims.jti &&
      session.token_version === claims.ver &&
      clock.nowSeconds() - (session.rotated_at ?? 0) <= retrySeconds
    )
  }

  return { refresh }
}

export type Refresh = ReturnType<typeof createRefresh>

function hashKey(key: string | undefined): string | null {
  if (key === undefined || key.length < minKeyLength) return null
  return hashToken(key)
}
