/** Authenticates API keys, with one query. */

import { LRUCache } from 'lru-cache'
import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { ActingKey } from '../../platform/access/program-keys.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Log } from '../../platform/log/logger.ts'
import { lastSecond } from './api-keys.schema.ts'
import type { KeyRow, KeyStore } from './api-keys.store.ts'
import { isWellFormed } from './key-format.ts'

type Allows = (permission: string) => boolean

export interface KeyAuthenticatorDeps {
  store: Pick<KeyStore, 'findByHash' | 'isExpired' | 'use'>
  clock: Clock
  log: Log
  createUser(row: KeyRow): Omit<Principal, 'session' | 'token'>
  compilePermissions(permissions: readonly string[]): Allows
}

/** Limits the writes of `last_used_at`. */
const usedEverySeconds = 60
/** Sockets require an expiry. */
const never = lastSecond

export function createKeyAuthenticator(deps: KeyAuthenticatorDeps) {
  const { store, clock, log, createUser, compilePermissions } = deps
  /** Keyed by the stored JSON. */
  const compiled = new LRUCache<string, Allows>({ max: 1000 })
  /** When this node last checked or wrote `last_used_at` of a key, in Unix seconds. */
  // With `max`, it would fill arrays of that length at once.
  const written = new LRUCache<string, number>({ maxSize: 10_000, sizeCalculation: () => 1 })
  const underWay = new Set<Promise<void>>()

  function allowsOf(permissions: string): Allows {
    const known = compiled.get(permissions)
    if (known) return known
    const allows = compilePermissions(JSON.parse(permissions) as string[])
    compiled.set(permissions, allows)
    return allows
  }

  function toPrincipal(row: KeyRow): Principal {
    const { key_id: id, key_name: name, permissions } = row
    const owner = createUser(row)
    // Ids of sessions and tokens have no spaces, so a key is never mistaken for one.
    const shared = {
      session: `key ${id}`,
      token: { id: `key ${id}`, expiresAt: row.ends_at ?? never },
    }
    const standing: ActingKey['owner'] = {
      can: (permission) => owner.can(permission),
      hasRole: (role) => owner.hasRole(role),
    }
    const key = { id, name, ownerRoles: owner.roles, owner: standing }
    if (permissions === null) return Object.assign(owner, shared, { key })
    const allows = allowsOf(permissions)
    return {
      id: owner.id,
      email: owner.email,
      name: owner.name,
      tokenVersion: owner.tokenVersion,
      // Code that checks a role by name may allow more than the key's permissions.
      roles: [],
      hasRole: () => false,
      can: (permission) => allows(permission) && owner.can(permission),
      ...shared,
      key: { ...key, allows },
    }
  }

  /** Runs in the background; a failure does not affect the request. */
  function noteUse({ key_id: id, last_used_at: lastUsedAt }: KeyRow): void {
    const now = clock.nowSeconds()
    if (now - (written.get(id) ?? 0) < usedEverySeconds) return
    written.set(id, now)
    const since = new Date((now - usedEverySeconds) * 1000).toISOString()
    // Another node has written it.
    if (lastUsedAt !== null && lastUsedAt > since) return
    const writing = store
      .use(id, clock.nowIso(), since)
      .catch((error: unknown) => log.warn({ err: error }, 'the last use of an API key could not be saved'))
      .finally(() => underWay.delete(writing))
    underWay.add(writing)
  }

  return {
    async authenticate(key: string): Promise<Principal | undefined> {
      if (!isWellFormed(key)) return undefined
      const row = await store.findByHash(hashToken(key))
      if (!row) return undefined
      noteUse(row)
      return toPrincipal(row)
    },

    /** For a key that was refused. */
    isExpired: async (key: string) => isWellFormed(key) && store.isExpired(hashToken(key)),

    async close(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}
