/** Completes a login: the batch that creates the session. */
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Account } from './accounts.store.ts'
import type { Lockout } from './lockout.ts'
import type { SessionStore } from './sessions.store.ts'
import type { TokenPair, TokenPairs } from './token-pairs.ts'

/** A new token family. */
export interface SignedIn {
  pair: TokenPair
  family: string
  version: number
}

export interface Completion {
  family: string
  event: AuditEvent
  client: Client
  /** Deciding statements. */
  before: Statement[]
  also: Statement[]
}

export interface LoginCompletionDeps {
  db: Database
  sessions: SessionStore
  lockout: Lockout
  pairs: TokenPairs
  audit: Audit
}

export function createLoginCompletion({ db, sessions, lockout, pairs, audit }: LoginCompletionDeps) {
  /** Returns undefined if the account was locked in the meantime, or a statement of `before` found no row. */
  return async (account: Account, completion: Completion): Promise<SignedIn | undefined> => {
    const { family, event, client, before, also } = completion
    const endsAt = pairs.familyEnd()
    const pair = pairs.make(account, family, endsAt)
    const [passes, forget] = lockout.clears(account.email)
    const [passed] = await db.write(
      passes,
      ...before,
      sessions.insert(pair, endsAt, client),
      forget,
      ...also,
      audit.entry({ event, outcome: 'success', userId: account.id, actorId: account.id, client }),
    )
    if (!passed?.length) return undefined
    audit.count(event, 'success')
    return { pair: pairs.sign(pair), family, version: pair.version }
  }
}

export type CompleteLogin = ReturnType<typeof createLoginCompletion>
