/** Creates, lists and ends API keys. */

import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import { hashToken } from '../../core/hash-token.ts'
import type { Random } from '../../core/random.ts'
import type { OnAccessChanged } from '../../platform/access/access-changes.ts'
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Audit, AuditChanges } from '../../platform/audit/audit.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { type NewKeyBody, parseTime } from './api-keys.schema.ts'
import { isoOf, type KeyStore, type ListedKey, maxKeys } from './api-keys.store.ts'
import { createKey, hintOf } from './key-format.ts'

export interface ApiKeysDeps {
  db: Database
  clock: Clock
  random: Random
  store: KeyStore
  audit: Audit
  /** By client address. */
  limiter: Limiter
  /** Deciding statement: the session of the request has not ended meanwhile. Locks the user's row. */
  stillHasVersion(userId: number, version: number): Statement
  onAccessChanged: OnAccessChanged
}

export interface MadeKey {
  data: ListedKey
  /** Returned only here. */
  key: string
}

export function tooManyKeys(): AppError {
  return new AppError(409, 'Too many API keys')
}

export function createApiKeys(deps: ApiKeysDeps) {
  const { db, clock, random, store, audit, limiter, stillHasVersion, onAccessChanged } = deps
  return {
    list: store.list,

    /** The body must have been validated with the schema. */
    async create(given: {
      principal: Pick<Principal, 'id' | 'tokenVersion'>
      body: NewKeyBody
      client: Client
    }): Promise<MadeKey> {
      const { principal, body, client } = given
      await limiter.take(client.address)
      const { id: userId, tokenVersion } = principal
      const key = createKey(random)
      const endsAt = (body.expires_at !== undefined && parseTime(body.expires_at)) || null
      const data: ListedKey = {
        id: random.id(),
        name: body.name.trim(),
        hint: hintOf(key),
        permissions: body.permissions ? [...new Set(body.permissions)] : null,
        expires_at: endsAt === null ? null : isoOf(endsAt),
        created_at: clock.nowIso(),
        last_used_at: null,
      }
      const [still] = await db.write(
        stillHasVersion(userId, tokenVersion),
        ...store.insert({ ...data, userId, keyHash: hashToken(key), endsAt, createdAt: data.created_at }),
        audit.entry({
          event: 'api_key_created',
          outcome: 'success',
          userId,
          actorId: userId,
          changes: changesOf(data, 'made'),
          client,
        }),
      )
      if (!still?.length) throw await refusal(userId)
      return { data, key }
    },

    /** Returns false if the user has no such key. */
    async end(given: { userId: number; id: string; actorId: number | null; client: Client }): Promise<boolean> {
      const { userId, id, actorId, client } = given
      const key = /^[\w-]{1,64}$/.test(id) ? await store.find(userId, id) : undefined
      if (!key) return false
      const [ended] = await db.write<object, object>(
        store.remove(userId, id),
        audit.entry({
          event: 'api_key_ended',
          outcome: 'success',
          userId,
          actorId,
          changes: changesOf(key, 'ended'),
          client,
        }),
      )
      if (ended.length === 0) return false
      await onAccessChanged(userId)
      return true
    },
  }

  /** The reason why the insert was refused. */
  async function refusal(userId: number): Promise<AppError> {
    const isFull = (await store.countLive(userId)) >= maxKeys
    return isFull ? tooManyKeys() : httpErrors.invalidToken()
  }
}

export type ApiKeys = ReturnType<typeof createApiKeys>

function changesOf({ id, name }: ListedKey, what: 'made' | 'ended'): AuditChanges {
  const toChange = (value: string) => (what === 'made' ? { from: null, to: value } : { from: value, to: null })
  return { api_key: toChange(id), api_key_name: toChange(name) }
}
