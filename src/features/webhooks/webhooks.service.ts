/** Creates, changes and deletes endpoints. */
import { AppError } from '../../core/app-error.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Audit, AuditChanges } from '../../platform/audit/audit.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Database, Statement } from '../../platform/database/database.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Encryption } from '../../platform/secrets/encryption.ts'
import { createSecret } from './signature.ts'
import type { Webhook } from './webhook.ts'
import type { Reader, WebhookPermissions } from './webhook-permissions.ts'
import { replacedBy } from './webhook-secrets.ts'
import { toWebhook, typesOf, type WebhookEdit, type WebhookRow, type WebhookStore } from './webhooks.store.ts'

export interface WebhooksDeps {
  db: Database
  clock: Clock
  random: Random
  store: WebhookStore
  audit: Audit
  encryption: Encryption
  changes: Pick<ChangeLog, 'latest' | 'topics'>
  counts: Pick<MaintainedCounts, 'lock'>
  permissions: Pick<WebhookPermissions, 'mayRead'>
  /** Tells whoever delivers to look. */
  wake(): void
}

export interface Actor extends Reader {
  id: number
  client: Client
}

export interface NewWebhookBody {
  url: string
  types: readonly string[]
  description?: string
}

/** With the secret, which is shown only here. */
export interface WithSecret {
  webhook: Webhook
  secret: string
}

/** How long the secret before signs along. */
const overlapSeconds = 86_400

export const tooManyWebhooks = () => new AppError(409, 'Too many webhooks')

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks(deps: WebhooksDeps) {
  const { db, clock, random, store, audit, encryption, changes, counts, permissions, wake } = deps

  function entry(event: string, { id, client }: Actor, changed: AuditChanges): Statement {
    return audit.entry({ event, outcome: 'success', userId: null, actorId: id, changes: changed, client })
  }

  function requireReader(actor: Actor, types: readonly string[]): void {
    if (!permissions.mayRead(actor, types)) throw httpErrors.forbidden()
  }

  const unchanged = <T>(value: T) => ({ from: value, to: value })

  /** Returns the changed row. 404 if the endpoint is gone. */
  async function write(change: Statement, entry: Statement): Promise<WebhookRow> {
    const [[row]] = await db.write<WebhookRow, object>(change, entry)
    if (!row) throw httpErrors.notFound()
    wake()
    return row
  }

  return {
    list: async (): Promise<Webhook[]> => (await store.list()).map(toWebhook),
    find: async (id: number | undefined): Promise<Webhook> => toWebhook(await store.require(id)),
    knownTypes: () => changes.topics.types(),

    /** It gets what is committed from now on. The body must have been validated. */
    async create({ url, types, description = '' }: NewWebhookBody, actor: Actor): Promise<WithSecret> {
      requireReader(actor, types)
      const secret = createSecret(random)
      const insert = store.insert({
        url,
        types: unique(types),
        description: description.trim(),
        secret: encryption.encrypt(secret),
        position: await changes.latest(),
        ownerId: actor.id,
        at: clock.nowIso(),
      })
      const made = { url: { from: null, to: url }, types: { from: null, to: unique(types) } }
      // Without the lock, parallel requests would not count each other.
      const lock = counts.lock('webhooks')
      const rows = await db.write<WebhookRow>(...lock, insert, entry('webhook_created', actor, made))
      const [row] = rows[lock.length] ?? []
      if (!row) throw tooManyWebhooks()
      wake()
      return { webhook: toWebhook(row), secret }
    },

    async change(id: number | undefined, edit: WebhookEdit, actor: Actor): Promise<Webhook> {
      const before = await store.require(id)
      const types = edit.types && unique(edit.types)
      // Whoever only switches it off sends nothing to anybody.
      const isSwitchedOff = edit.enabled === false && Object.keys(edit).length === 1
      if (!isSwitchedOff) requireReader(actor, types ?? typesOf(before))
      const update = store.update(
        before.id,
        { ...edit, ...(types && { types }), ...(!isSwitchedOff && { ownerId: actor.id }) },
        clock.nowIso(),
      )
      return toWebhook(
        await write(
          update,
          entry('webhook_changed', actor, {
            webhook: unchanged(before.id),
            ...changesOf(before, { ...edit, ...(types && { types }) }),
          }),
        ),
      )
    },

    async remove(id: number | undefined, actor: Actor): Promise<void> {
      const { id: known, url } = await store.require(id)
      await write(
        store.remove(known),
        entry('webhook_deleted', actor, { webhook: { from: known, to: null }, url: { from: url, to: null } }),
      )
    },

    /** The secret before signs along for a day. */
    async replaceSecret(id: number | undefined, actor: Actor): Promise<WithSecret> {
      const secret = createSecret(random)
      const encrypted = encryption.encrypt(secret)
      for (;;) {
        const before = await store.require(id)
        const now = clock.nowSeconds()
        const after = replacedBy(encrypted, before, { now, until: now + overlapSeconds })
        const [[row]] = await db.write<WebhookRow, object>(
          store.replaceSecrets(before, after, clock.nowIso()),
          entry('webhook_secret_replaced', actor, { webhook: unchanged(before.id), url: unchanged(before.url) }),
        )
        // Otherwise another was quicker, whose secret must sign along, too.
        if (!row) continue
        wake()
        return { webhook: toWebhook(row), secret }
      }
    },
  }
}

function changesOf(before: WebhookRow, edit: WebhookEdit): AuditChanges {
  const from: Required<WebhookEdit> = { ...toWebhook(before), types: typesOf(before) }
  return Object.fromEntries(
    (['url', 'types', 'description', 'enabled'] as const)
      .filter((name) => edit[name] !== undefined)
      .map((name) => [name, { from: from[name], to: edit[name] }]),
  )
}

function unique(types: readonly string[]): string[] {
  return [...new Set(types)]
}
