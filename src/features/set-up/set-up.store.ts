import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import { ConstraintError, type Database, rowOf, type Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { UsersService } from '../users/users.create.ts'

/** How long a link works. */
export const linkSeconds = 30 * 60
/** How long the welcome page is there for the new administrator. */
const welcomeSeconds = 60 * 60
/** Longer than any token that is made. */
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
 * Begins every batch. On PostgreSQL, the statements after it see what the batch before has committed; without it, two
 * links used at once would both find no administrator.
 */
const takeTurn: Statement = { sql: 'UPDATE set_up SET id = id WHERE id = 1 RETURNING id', decides: true }

export function createSetUpStore({ db, clock, random, audit, administrators, insertUser }: SetUpStoreDeps) {
  return {
    /** Reads every user with a role where nobody holds `*`. Not a scan, whose thread each start would pay for. */
    hasAdministrator: async () => (await db.get(administrators.exists)) !== undefined,

    /** A new token. Those made before `voidedBefore`, in Unix seconds, stop working. */
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

    /** Looking uses nothing up. */
    async isValid(token: string): Promise<boolean> {
      const sql = 'SELECT 1 FROM setup_tokens WHERE token_hash = $1 AND expires_at > $2'
      return (await db.get(sql, [hashLinkToken(token), clock.nowSeconds()])) !== undefined
    },

    /** Uses the token up and makes the user, or does neither: for a token that does not work, or if somebody holds `*`. */
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

    /** Undefined for everybody but the user who has just finished the set-up. */
    async findWelcome(userId: number): Promise<{ hasSamples: boolean } | undefined> {
      const row = await db.get<{ samples_at: number | null }>(
        'SELECT samples_at FROM set_up WHERE user_id = $1 AND finished_at > $2',
        [userId, clock.nowSeconds() - welcomeSeconds],
      )
      return row && { hasSamples: row.samples_at !== null }
    },

    /** Once: a second click adds nothing. */
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

/** Texts of any length cost the same. */
function hashLinkToken(token: string): string {
  return hashToken(token.slice(0, maxTokenLength))
}
