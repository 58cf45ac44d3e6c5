/**
 * Browser sessions. The cookie holds a random id, stored as a hash, that belongs to a token family and ends with it. Unlike
 * refresh tokens it is not rotated, so that pages can load in parallel.
 */

import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { EndedSessionStore, EndReason } from './ended-sessions.store.ts'
import type { PrincipalRow } from './principals.store.ts'
import type { WebSessionRow, WebSessionStore } from './web-sessions.store.ts'

export interface WebSessionsDeps {
  store: WebSessionStore
  endedSessions: Pick<EndedSessionStore, 'findReason'>
  clock: Clock
  random: Random
  /** The idle time after which it ends. */
  ttlSeconds: number
  createUser(row: PrincipalRow): Omit<Principal, 'session' | 'token'>
}

/** So that not every request is a write. */
const usedEverySeconds = 300

export function createWebSessions(deps: WebSessionsDeps) {
  const { store, endedSessions, clock, random, ttlSeconds, createUser } = deps
  const toPrincipal = (idHash: string, row: WebSessionRow): Principal =>
    Object.assign(createUser(row), {
      session: row.family,
      token: { id: `web ${idHash}`, expiresAt: row.expires_at },
    })

  return {
    /** Returns the value of the cookie. */
    async begin({ family, version }: { family: string; version: number }): Promise<string> {
      const id = random.bytes(32).toString('base64url')
      await store.insert({ idHash: hashToken(id), family, version, ttlSeconds })
      return id
    },

    async find(id: string): Promise<Principal | undefined> {
      const idHash = hashToken(id)
      const row = await store.find(idHash)
      if (!row) return undefined
      const now = clock.nowSeconds()
      if (now - row.used_at >= usedEverySeconds) {
        // Extends the session, but not beyond the end of its family.
        await store.use({ idHash, family: row.family, expiresAt: Math.min(now + ttlSeconds, row.ends_at) })
      }
      return toPrincipal(idHash, row)
    },

    /** Like `find`, but does not extend the session: a page that is merely left open does not keep it alive. */
    async peek(id: string): Promise<Principal | undefined> {
      const idHash = hashToken(id)
      const row = await store.find(idHash)
      return row && toPrincipal(idHash, row)
    },

    /** For the browser that still has the cookie, and for nobody else. */
    findEndReason: (id: string): Promise<EndReason | undefined> => endedSessions.findReason(hashToken(id)),
  }
}

export type WebSessions = ReturnType<typeof createWebSessions>
