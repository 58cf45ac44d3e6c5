import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, rowOf, type Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { UsersService } from '../users/users.create.ts'

/** How long a link works. */
export const linkSeconds = 30 * 60
/** How long the new administrator can open the welcome page. */
const welcomeSeconds = 60 * 60
/** Longer than any token. */
const maxTokenLength = 128

export interface SetUpStoreDeps {
  db: Database
  clock: Clock
  random: Random
  audit: Audit
  administrators: UsersService['administrators']
  insertUser: UsersService['changes']['insert']
}

export interface FirstAdministrator {
  email: string
  name: string
  passwordHash: string
  roles: readonly string[]
  client: Client
}

export type Finished = { kind: 'made'; id: number } | { kind: 'email_taken' } | { kind: 'refused' }

/**
 * First in every batch: locks the row, so that batches run one after another. Without it, two links used at once on
 * PostgreSQL would both find no administrator.
 */
const takeTurn: Statement = { sql: 'UPDATE set_up SET id = id WHERE id = 1 RETURNING id', decides: true }

export function createSetUpStore({ db, clock, random, audit, administrators, insertUser }: SetUpStoreDeps) {
  return {
    /** Reads every user with a role if nobody holds `*`. Not with `db.scan`, which starts a thread. */
    hasAdministrator: async () => (await db.get(administrators.exists)) !== undefined,

    /** Returns a new token, and voids those created before `voidedBefore`, in Unix seconds. */
    async createToken(voidedBefore: number): Promise<string> {
      const token = random.bytes(32).toString('base64url')
      const now = clock.nowSeconds()
      await db.write(
        takeTurn,
        { sql: 'DELETE FROM setup_tokens WHERE created_at < $1', params: [voidedBefore] },
        {
          sql: 'INSERT INTO setup_tokens (token_hash, created_at, expires_at) VALUES ($1, $2, $3)',
          params: [hashLinkToken(token), now, now + linkSeconds],
        },
      )
      return token
    },

    /** Does not consume the token. */
    async isValid(token: string): Promise<boolean> {
      const sql = 'SELECT 1 FROM setup_tokens WHERE token_hash = $1 AND expires_at > $2'
      return (await db.get(sql, [hashLinkToken(token), clock.nowSeconds()])) !== undefined
    },

    /** Consumes the token and creates the user. Does neither if the token is invalid or there is an administrator. */
    async finish(token: string, user: FirstAdministrator): Promise<Finished> {
      const now = clock.nowSeconds()
      const { client } = user
      const id = rowOf(2, 'id')
      try {
        const [, , inserted] = await db.write<{ id: number }>(
          takeTurn,
          {
            sql: `DELETE FROM setup_tokens WHERE token_hash = $1 AND expires_at > $2
                  AND NOT EXISTS (${administrators.exists}) RETURNING token_hash`,
            params: [hashLinkToken(token), now],
            decides: true,
          },
          insertUser(user),
          { sql: 'UPDATE set_up SET finished_at = $1, user_id = $2 WHERE id = 1', params: [now, id] },
          audit.entry({ event: 'set_up', outcome: 'success', userId: id, actorId: id, client }),
        )
        const [row] = inserted ?? []
        return row ? { kind: 'made', id: row.id } : { kind: 'refused' }
      } catch (error) {
        if (error instanceof ConstraintError && error.kind === 'unique') return { kind: 'email_taken' }
        throw error
      }
    },

    /** Undefined unless this user has just finished the set-up. */
    async findWelcome(userId: number): Promise<{ hasSamples: boolean } | undefined> {
      const row = await db.get<{ samples_at: number | null }>(
        'SELECT samples_at FROM set_up WHERE user_id = $1 AND finished_at > $2',
        [userId, clock.nowSeconds() - welcomeSeconds],
      )
      return row && { hasSamples: row.samples_at !== null }
    },

    /** Works once; a second click adds nothing. */
    async addSamples(insertSamples: Statement): Promise<void> {
      await db.write(
        {
          sql: 'UPDATE set_up SET samples_at = $1 WHERE id = 1 AND samples_at IS NULL RETURNING id',
          params: [clock.nowSeconds()],
          decides: true,
        },
        insertSamples,
      )
    },
  }
}

export type SetUpStore = ReturnType<typeof createSetUpStore>

/** Cut, so that a long text costs no more to hash. */
function hashLinkToken(token: string): string {
  return hashToken(token.slice(0, maxTokenLength))
}
