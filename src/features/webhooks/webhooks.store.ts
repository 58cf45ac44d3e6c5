import type { Database, Statement } from '../../platform/database/database.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { OffReason, Webhook } from './webhook.ts'
import type { StoredSecrets } from './webhook-secrets.ts'

/** As stored, for delivering. */
export interface WebhookRow extends StoredSecrets {
  id: number
  url: string
  /** A JSON list. */
  types: string
  description: string
  position: number
  /** Who saved it last. Null if that is unknown. */
  owner_id: number | null
  revision: number
  failures: number
  failing_since: number | null
  next_attempt_at: number | null
  off_since: string | null
  off_reason: OffReason | null
  created_at: string
  updated_at: string
}

export interface NewWebhook extends Pick<WebhookRow, 'url' | 'description' | 'secret' | 'position'> {
  ownerId: number
  types: readonly string[]
  at: string
}

export interface WebhookEdit {
  url?: string
  types?: readonly string[]
  description?: string
  enabled?: boolean
}

export const maxWebhooks = 100
/** The lease under which one node delivers. */
export const leaseName = 'webhooks'

const columns = `id, url, types, description, secret, previous_secret, previous_until, position, owner_id, revision, failures,
  failing_since, next_attempt_at, off_since, off_reason, created_at, updated_at`

const isHeld = (holder: string) =>
  `EXISTS (SELECT 1 FROM change_consumers WHERE name = '${leaseName}' AND holder = ${holder})`

/** Written by whoever delivers. */
const progress = {
  /** Returns no row if another node has taken the lease, or the endpoint is gone. */
  advance: (id: number, position: number, holder: string): Statement => ({
    sql: `UPDATE webhooks SET position = $2, failures = 0, failing_since = NULL, next_attempt_at = NULL
          WHERE id = $1 AND position <= $2 AND ${isHeld('$3')} RETURNING id`,
    params: [id, position, holder],
  }),

  /** Deciding statement: another node may have taken the lease, or somebody has changed the endpoint. */
  fail: (
    { id, revision }: Pick<WebhookRow, 'id' | 'revision'>,
    given: { failures: number; failingSince: number; nextAttemptAt: number | null; offSince: string | null },
    holder: string,
  ): Statement => ({
    sql: `UPDATE webhooks SET failures = $3, failing_since = $4, next_attempt_at = $5, off_since = $6,
            off_reason = $7
          WHERE id = $1 AND revision = $2 AND off_since IS NULL AND ${isHeld('$8')} RETURNING id`,
    params: [
      id,
      revision,
      given.failures,
      given.failingSince,
      given.nextAttemptAt,
      given.offSince,
      given.offSince === null ? null : ('failures' satisfies OffReason),
      holder,
    ],
    decides: true,
  }),
}

export function createWebhookStore(db: Database) {
  const find = (id: number) => db.get<WebhookRow>(`SELECT ${columns} FROM webhooks WHERE id = $1`, [id])

  return {
    /** Throws 404 if there is no such endpoint. */
    /** Whether the endpoint is still as it was read, on whatever node it is changed. */
    async isCurrent({ id, revision }: Pick<WebhookRow, 'id' | 'revision'>): Promise<boolean> {
      return (await db.get('SELECT id FROM webhooks WHERE id = $1 AND revision = $2', [id, revision])) !== undefined
    },

    async require(id: number | undefined): Promise<WebhookRow> {
      const row = id === undefined ? undefined : await find(id)
      if (!row) throw httpErrors.notFound()
      return row
    },

    list: () => db.all<WebhookRow>(`SELECT ${columns} FROM webhooks ORDER BY id`),
    hasOn: async () => (await db.get('SELECT id FROM webhooks WHERE off_since IS NULL LIMIT 1')) !== undefined,
    listOn: () => db.all<WebhookRow>(`SELECT ${columns} FROM webhooks WHERE off_since IS NULL ORDER BY id`),

    /** Deciding statement: fails if there is the maximum number of endpoints. */
    insert: ({ url, types, description, secret, position, ownerId, at }: NewWebhook): Statement => ({
      sql: `INSERT INTO webhooks (url, types, description, secret, position, owner_id, created_at, updated_at)
            SELECT $1, $2, $3, $4, $5, $6, $7, $7 WHERE (SELECT count(*) FROM webhooks) < ${maxWebhooks}
            RETURNING ${columns}`,
      params: [url, JSON.stringify(types), description, secret, position, ownerId, at],
      decides: true,
    }),

    /** Failures from before are forgotten, so that the next attempt is made at once. */
    update: (
      id: number,
      { url, types, description, enabled, ownerId }: WebhookEdit & { ownerId?: number },
      at: string,
    ): Statement => ({
      sql: `UPDATE webhooks SET url = COALESCE($2, url), types = COALESCE($3, types),
              description = COALESCE($4, description), owner_id = COALESCE($7, owner_id),
              off_since = CASE WHEN $5 = 'on' THEN NULL WHEN $5 = 'off' THEN COALESCE(off_since, $6) ELSE off_since END,
              off_reason = CASE WHEN $5 = 'on' THEN NULL WHEN $5 = 'off' THEN COALESCE(off_reason, 'person') ELSE off_reason END,
              failures = 0, failing_since = NULL, next_attempt_at = NULL, revision = revision + 1, updated_at = $6
            WHERE id = $1 RETURNING ${columns}`,
      params: [
        id,
        url ?? null,
        types ? JSON.stringify(types) : null,
        description ?? null,
        enabled === undefined ? null : enabled ? 'on' : 'off',
        at,
        ownerId ?? null,
      ],
      decides: true,
    }),

    /** Deciding statement: does nothing if they were replaced since `before` was read. */
    replaceSecrets: (before: Pick<WebhookRow, 'id'> & StoredSecrets, after: StoredSecrets, at: string): Statement => ({
      sql: `UPDATE webhooks SET secret = $3, previous_secret = $4, previous_until = $5, revision = revision + 1,
              updated_at = $6
            WHERE id = $1 AND secret = $2 RETURNING ${columns}`,
      params: [before.id, before.secret, after.secret, after.previous_secret, after.previous_until, at],
      decides: true,
    }),

    remove: (id: number): Statement => ({
      sql: 'DELETE FROM webhooks WHERE id = $1 RETURNING id',
      params: [id],
      decides: true,
    }),

    /** Asks whoever delivers to try again at once. */
    async hurry(id: number): Promise<void> {
      await db.write({
        sql: `UPDATE webhooks SET next_attempt_at = NULL, revision = revision + 1
              WHERE id = $1 AND next_attempt_at IS NOT NULL`,
        params: [id],
      })
    },

    ...progress,

    async countByState(): Promise<{ on: number; failing: number; off: number }> {
      const row = await db.get<{ on_count: number; failing: number; off_count: number }>(
        `SELECT count(CASE WHEN off_since IS NULL AND failing_since IS NULL THEN 1 END) AS on_count,
                count(CASE WHEN off_since IS NULL AND failing_since IS NOT NULL THEN 1 END) AS failing,
                count(off_since) AS off_count FROM webhooks`,
      )
      return { on: row?.on_count ?? 0, failing: row?.failing ?? 0, off: row?.off_count ?? 0 }
    },
  }
}

export type WebhookStore = ReturnType<typeof createWebhookStore>

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    types: typesOf(row),
    description: row.description,
    enabled: row.off_since === null,
    off_reason: row.off_reason,
    off_since: row.off_since,
    failures: row.failures,
    failing_since: isoOrNull(row.failing_since),
    next_attempt_at: isoOrNull(row.next_attempt_at),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

export function typesOf({ types }: Pick<WebhookRow, 'types'>): string[] {
  return JSON.parse(types) as string[]
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
