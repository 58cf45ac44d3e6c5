/** Completes a login: the batch that creates the session. */
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Audit, AuditEvent } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { Account } from './accounts.store.ts'
import type { AttemptSubject } from './attempt-subjects.ts'
import type { KnownDevices } from './known-devices.ts'
import type { Lockout } from './lockout.ts'
import type { SessionStore } from './sessions.store.ts'
import type { TokenPair, TokenPairs } from './token-pairs.ts'

/** A new token family. */
export interface SignedIn {
  pair: TokenPair
  family: string
  version: number
  /** For the client to present at its next login; undefined where devices are not kept. */
  deviceToken: string | undefined
}

export interface Completion {
  family: string
  /** Whose failures are forgotten. */
  subject: AttemptSubject
  /** The known device that it comes from. */
  device: { id: string; token: string } | undefined
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
  devices: Pick<KnownDevices, 'remember'>
  audit: Audit
  onAccessChanged: OnAccessChanged
}

export function createLoginCompletion(deps: LoginCompletionDeps) {
  const { db, sessions, lockout, pairs, devices, audit, onAccessChanged } = deps
  /** Returns undefined where the subject was locked or the account changed meanwhile, or `before` found no row. */
  return async (account: Account, completion: Completion): Promise<SignedIn | undefined> => {
    const { family, subject, event, client, before, also } = completion
    const endsAt = pairs.familyEnd()
    const pair = pairs.make(account, family, endsAt)
    const [passes, forget] = lockout.clears(subject)
    const device = devices.remember({ userId: account.id, known: completion.device, client })
    const begin = [
      passes,
      ...before,
      ...(device?.statements ?? []),
      sessions.insert({ pair, endsAt, deviceId: device?.id, client }),
    ]
    const results = await db.write(
      ...begin,
      sessions.forgetOldest(account.id, family),
      forget,
      ...also,
      audit.entry({ event, outcome: 'success', userId: account.id, actorId: account.id, client }),
    )
    if (!results[0]?.length) return undefined
    // One that was forgotten may still have been in use.
    if (results[begin.length]?.length) await onAccessChanged(account.id)
    audit.count(event, 'success')
    return { pair: pairs.sign(pair), family, version: pair.version, deviceToken: device?.token }
  }
}

export type CompleteLogin = ReturnType<typeof createLoginCompletion>
