/** Logout, and the list of signed-in devices. */

import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { authErrors } from './auth.errors.ts'
import type { EndedSession, EndedSessionStore, EndReason } from './ended-sessions.store.ts'
import type { KnownDevices } from './known-devices.ts'
import type { ListedSession, SessionStore } from './sessions.store.ts'
import type { Tokens } from './tokens.ts'

export interface Device extends ListedSession {
  /** The device of this request. */
  current: boolean
}

export interface SessionsDeps {
  db: Database
  sessions: SessionStore
  endedSessions: Pick<EndedSessionStore, 'list' | 'noteLogOut' | 'findEnd'>
  devices: Pick<KnownDevices, 'forgetAll' | 'forgetOfSession'>
  tokens: Pick<Tokens, 'read'>
  audit: Audit
  onAccessChanged: OnAccessChanged
}

export interface LogOut {
  principal: Principal
  isEverywhere: boolean
  /** The device that stays known where all others are forgotten. */
  deviceToken: string | undefined
  client: Client
}

export function createSessions(deps: SessionsDeps) {
  const { db, sessions, endedSessions, devices, tokens, audit, onAccessChanged } = deps
  return {
    async logOut({ principal, isEverywhere, deviceToken, client }: LogOut): Promise<void> {
      const { id: userId, session, token } = principal
      const event = isEverywhere ? 'logout_all' : 'logout'
      const entry = audit.entry({ event, outcome: 'success', userId, actorId: userId, client })
      const statements = isEverywhere
        ? [
            sessions.raiseVersion(userId),
            sessions.revokeAll(userId, 'everywhere'),
            ...devices.forgetAll(userId, deviceToken),
          ]
        : [sessions.revokeToken(token.id, token.expiresAt), endedSessions.noteLogOut(session)]
      await db.write(...statements, entry)
      await onAccessChanged(userId)
    },

    async list({ id, session }: Principal): Promise<Device[]> {
      return (await sessions.list(id)).map((each) => ({ ...each, current: each.id === session }))
    },

    /** The sessions of the last 30 days that ended, the last to end first. */
    listEnded: ({ id }: Pick<Principal, 'id'>): Promise<EndedSession[]> => endedSessions.list(id),

    /**
     * Why the session of a refresh token ended; null if it has not. Any genuine token of it will do, used or expired: this is
     * asked when a refresh was refused. Nothing is presented by it, so it is no reuse.
     */
    async explainEnd(refreshToken: string): Promise<{ reason: EndReason; ended_at: string } | null> {
      const claims = tokens.read(refreshToken, 'refresh')
      const end = claims && (await endedSessions.findEnd(claims.family))
      if (!end) throw authErrors.invalidRefreshToken()
      return end.isOver ? { reason: end.reason, ended_at: end.ended_at } : null
    },

    /** Returns false if the user has no such session. The device of another session is no longer known. */
    async end(given: { principal: Principal; id: string; client: Client }): Promise<boolean> {
      const { principal, id, client } = given
      const [ended] = await db.write(
        sessions.revokeOwn(id, principal.id, 'logout'),
        ...devices.forgetOfSession({ family: id, endedBy: principal.session, userId: principal.id }),
        audit.entry({
          event: 'session_end',
          outcome: 'success',
          userId: principal.id,
          actorId: principal.id,
          client,
        }),
      )
      const isEnded = ended !== undefined && ended.length > 0
      if (isEnded) await onAccessChanged(principal.id)
      return isEnded
    },
  }
}

export type SessionService = ReturnType<typeof createSessions>
