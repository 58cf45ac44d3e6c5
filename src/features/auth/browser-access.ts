/**
 * Access tokens for the pages that call the API from a signed-in browser, such as /docs. They are short-lived, because a
 * script holds them, and belong to the family of the browser's session, so that they end with it. There is no refresh
 * token: the page asks again.
 */
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Tokens } from './tokens.ts'

export interface BrowserAccessDeps {
  db: Database
  clock: Clock
  random: Random
  tokens: Pick<Tokens, 'sign'>
  audit: Audit
  accessTtlSeconds: number
}

export interface BrowserToken {
  access_token: string
  token_type: 'Bearer'
  /** In Unix seconds. */
  expires_at: number
  /** For browsers whose clock is wrong. */
  expires_in: number
}

const longestSeconds = 300

export function createBrowserAccess({ db, clock, random, tokens, audit, accessTtlSeconds }: BrowserAccessDeps) {
  return {
    /** `principal` is the user of a browser's session. */
    async issue({ principal, client }: { principal: Principal; client: Client }): Promise<BrowserToken> {
      const { id: userId, tokenVersion, session, token } = principal
      const issuedAt = clock.nowSeconds()
      const expiresAt = Math.min(issuedAt + Math.min(longestSeconds, accessTtlSeconds), token.expiresAt)
      await db.write(audit.entry({ event: 'access_token', outcome: 'success', userId, actorId: userId, client }))
      return {
        access_token: tokens.sign({
          sub: String(userId),
          iat: issuedAt,
          exp: expiresAt,
          jti: random.id(),
          ver: tokenVersion,
          family: session,
          type: 'access',
        }),
        token_type: 'Bearer',
        expires_at: expiresAt,
        expires_in: expiresAt - issuedAt,
      }
    },
  }
}
