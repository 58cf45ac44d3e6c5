/** Logout, and the list of signed-in devices. */

import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import type { ListedSession, SessionStore } from './sessions.store.ts'

export interface Device extends ListedSession {
  /** The device of this request. */
  current: boolean
}

export interface SessionsDeps {
  db: Database
  sessions: SessionStore
  audit: Audit
  onAccessChanged: OnAccessChanged
}

export function createSessions({ db, sessions, audit, onAccessChanged }: SessionsDeps) {
  return {
    async logOut(given: { principal: Principal; isEverywhere: boolean; client: Client }): Promise<void> {
      const { principal, isEverywhere, client } = given
      const { id: userId, token } = principal
      const event = isEverywhere ? 'logout_all' : 'logout'
      const entry = audit.entry({ event, outcome: 'success', userId, actorId: userId, client })
      if (isEverywhere) await db.write(sessions.raiseVersion(userId), sessions.revokeAll(userId, 'everywhere'), entry)
      else await db.write(sessions.revokeToken(token.id, token.expiresAt), entry)
      await onAccessChanged(userId)
    },

    async list({ id, session }: Principal): Promise<Device[]> {
      return (await sessions.list(id)).map((each) => ({ ...each, current: each.id === session }))
    },

    /** Returns false if the user has no such session. */
    async end(given: { principal: Principal; id: string; client: Client }): Promise<boolean> {
      const { principal, id, client } = given
      const [ended] = await db.write<object, object>(
        sessions.revokeOwn(id, principal.id, 'logout'),
        audit.entry({
          event: 'session_end',
          outcome: 'success',
          userId: principal.id,
          actorId: principal.id,
          client,
        }),
      )
      const isEnded = ended.length > 0
      if (isEnded) await onAccessChanged(principal.id)
      return isEnded
    },
  }
}

export type SessionService = ReturnType<typeof createSessions>
