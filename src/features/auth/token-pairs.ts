/** Creates token pairs. A pair is a set of claims, from which the tokens are signed; the tokens are never stored. */
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { PairClaims } from './sessions.store.ts'
import type { Tokens } from './tokens.ts'

export interface TokenPair {
  access_token: string
  refresh_token: string
  /** When the access token expires, in Unix seconds. */
  expires_at: number
}

export interface TokenPairOptions {
  tokens: Tokens
  clock: Clock
  random: Random
  accessTtlSeconds: number
  refreshTtlSeconds: number
}

const longestFamilySeconds = 90 * 86_400

export function createTokenPairs({ tokens, clock, random, accessTtlSeconds, refreshTtlSeconds }: TokenPairOptions) {
  const familyTtlSeconds = Math.max(longestFamilySeconds, refreshTtlSeconds)
  return {
    familyTtlSeconds,

    /** The end of a family that starts now, however often it is refreshed. */
    familyEnd: () => clock.nowSeconds() + familyTtlSeconds,

    make(user: { id: number; token_version: number }, family: string, endsAt: number): PairClaims {
      const issuedAt = clock.nowSeconds()
      return {
        userId: user.id,
        version: user.token_version,
        family,
        accessId: random.id(),
        refreshId: random.id(),
        issuedAt,
        accessExpiresAt: Math.min(issuedAt + accessTtlSeconds, endsAt),
        refreshExpiresAt: Math.min(issuedAt + refreshTtlSeconds, endsAt),
      }
    },

    sign(pair: PairClaims): TokenPair {
      const shared = { sub: String(pair.userId), iat: pair.issuedAt, ver: pair.version, family: pair.family }
      return {
        access_token: tokens.sign({ ...shared, type: 'access', jti: pair.accessId, exp: pair.accessExpiresAt }),
        refresh_token: tokens.sign({ ...shared, type: 'refresh', jti: pair.refreshId, exp: pair.refreshExpiresAt }),
        expires_at: pair.accessExpiresAt,
      }
    },
  }
}

export type TokenPairs = ReturnType<typeof createTokenPairs>
