/** Single-use tokens that are sent by mail, kept hashed. Having one proves access to the mailbox. */

import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { Database, Param, Statement } from '../../platform/database/database.ts'

const hour = 3600
const day = 24 * hour

/** How long each is valid, in seconds. */
const lifetimes = { reset: hour, invitation: 7 * day, verification: day, email_change: day }
/** Per user and purpose. */
const mailsPerHour = 3
/** Longer than any that we send. */
const maxTokenLength = 128

export type MailPurpose = keyof typeof lifetimes

export interface MailedToken {
  token_hash: string
  user_id: number
  purpose: MailPurpose
  /** The new address, for a change of email. */
  address: string | null
  email: string
  name: string
  email_verified_at: string | null
}

export interface NewToken {
  token: string
  insert: Statement
  lifetimeSeconds: number
}

export interface MailedTokensDeps {
  db: Database
  clock: Clock
  random: Random
}

export function createMailedTokens({ db, clock, random }: MailedTokensDeps) {
  return {
    /** A new token, and the statement that keeps it. It decides: only so many are made in an hour. */
    create(given: { purpose: MailPurpose; userId: Param; address?: string }): NewToken {
      const { purpose, userId, address = null } = given
      const token = random.bytes(32).toString('base64url')
      const now = clock.nowSeconds()
      const lifetimeSeconds = lifetimes[purpose]
      const insert: Statement = {
        sql: `INSERT INTO mailed_tokens (token_hash, user_id, created_at, expires_at, purpose, address)
              SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($7 AS TEXT),
                     CAST($8 AS TEXT)
              WHERE (SELECT count(*) FROM mailed_tokens WHERE user_id = $2 AND purpose = $7 AND created_at > $5) < $6
              RETURNING user_id`,
        params: [hashToken(token), userId, now, now + lifetimeSeconds, now - hour, mailsPerHour, purpose, address],
        decides: true,
      }
      return { token, insert, lifetimeSeconds }
    },

    /** Undefined where it was used, has expired, is for something else, or its user is disabled. */
    async find(token: string, ...purposes: MailPurpose[]): Promise<MailedToken | undefined> {
      if (token.length > maxTokenLength) return undefined
      const found = await db.get<MailedToken>(
        `SELECT m.token_hash, m.user_id, m.purpose, m.address, u.email, u.name, u.email_verified_at
         FROM mailed_tokens m JOIN users u ON u.id = m.user_id
         WHERE m.token_hash = $1 AND m.used_at IS NULL AND m.expires_at > $2 AND u.disabled_at IS NULL`,
        [hashToken(token), clock.nowSeconds()],
      )
      return found && purposes.includes(found.purpose) ? found : undefined
    },

    /** Deciding statement: of two requests with the same token, one finds it unused. */
    use: ({ token_hash }: Pick<MailedToken, 'token_hash'>): Statement => ({
      sql: `UPDATE mailed_tokens SET used_at = $1 WHERE token_hash = $2 AND used_at IS NULL AND expires_at > $1
            RETURNING user_id`,
      params: [clock.nowSeconds(), token_hash],
      decides: true,
    }),

    /** Every mail that was sent to the user is void then. */
    voidAll: (userId: number): Statement => ({
      sql: 'UPDATE mailed_tokens SET used_at = $1 WHERE user_id = $2 AND used_at IS NULL',
      params: [clock.nowSeconds(), userId],
    }),
  }
}

export type MailedTokens = ReturnType<typeof createMailedTokens>
