import type { Database, Statement } from '../database/database.ts'
import { idIsListed, toIdList } from '../database/id-lists.ts'
import { beginning, type ChangeRow } from './change.ts'

/** Read on the event loop of SQLite; more takes milliseconds. */
const fewRows = 100

const columns = 'c.id, c.topic, c.type, c.entity_id, c.actor_id, c.at'

/**
 * The entry at $1, without its data, and those after it: at least one, and further ones as long as those before have fewer
 * than $4 bytes. Lengths are known without reading the texts.
 */
const pageText = `
  SELECT ${columns}, CASE WHEN c.id = $1 THEN '' ELSE c.data END AS data FROM changes c JOIN (
    SELECT id, SUM(bytes) OVER (ORDER BY id) - bytes AS bytes_before FROM (
      SELECT id, CASE WHEN id = $1 THEN 0 ELSE octet_length(data) END AS bytes
      FROM changes WHERE id >= $1 AND id <= $2 ORDER BY id LIMIT $3
    ) AS wanted
  ) AS measured ON measured.id = c.id
  WHERE bytes_before < $4 ORDER BY c.id`

/**
 * The entries of one entity before $3, newest first: at least two, so that one can be compared with the one before it, and
 * further ones as long as those before have fewer than $5 bytes.
 */
const historyText = `
  SELECT ${columns}, c.data, measured.wanted FROM changes c JOIN (
    SELECT id, SUM(bytes) OVER (ORDER BY id DESC) - bytes AS bytes_before,
      ROW_NUMBER() OVER (ORDER BY id DESC) AS place, COUNT(*) OVER () AS wanted
    FROM (
      SELECT id, octet_length(data) AS bytes FROM changes
      WHERE topic = $1 AND entity_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4
    ) AS newest
  ) AS measured ON measured.id = c.id
  WHERE bytes_before < $5 OR place <= 2 ORDER BY c.id DESC`

/** The newest entries of a topic, as far as they are among the last 200 of all. Data of more than $3 bytes are left out. */
const newestText = `
  SELECT ${columns}, CASE WHEN octet_length(c.data) <= $3 THEN c.data ELSE '' END AS data FROM changes c JOIN (
    SELECT id FROM (SELECT id, topic FROM changes WHERE id > $4 ORDER BY id DESC LIMIT 200) AS last_ones
    WHERE topic = $1 ORDER BY id DESC LIMIT $2
  ) AS newest ON newest.id = c.id
  ORDER BY c.id DESC`

/** Whoever has taken an id holds this lock until the end of the transaction, and takes it before the id. */
const holdersText = `
  SELECT virtualtransaction AS holder FROM pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
    AND relation = CAST(pg_get_serial_sequence('changes', 'id') AS regclass)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

const beforeGapText = `
  SELECT COALESCE((
    SELECT id FROM (SELECT id, LEAD(id) OVER (ORDER BY id) AS following FROM changes) AS all_ids
    WHERE following <> id + 1 ORDER BY id LIMIT 1
  ), (SELECT MAX(id) FROM changes), 0) AS id`

export interface PageQuery {
  after: number
  /** Inclusive. */
  to: number
  limit: number
  maxBytes: number
}

export interface HistoryQuery {
  topic: string
  entityId: number
  /** Only entries before this position. */
  before?: number | undefined
  limit: number
  /** Ends the page after the entry that exceeds it. */
  maxBytes: number
}

/** Newest first. */
export interface HistoryPage {
  entries: readonly ChangeRow[]
  /** The one before the last of them, if it is kept: the first of the next page. */
  previous: ChangeRow | undefined
}

export function createChangeStore(db: Database) {
  return {
    /** Undefined if the entry at `after` is not kept, and others may thus be missing. */
    async readPage({ after, to, limit, maxBytes }: PageQuery): Promise<ChangeRow[] | undefined> {
      const params = [after, to, limit + 1, maxBytes]
      const rows = await (limit <= fewRows ? db.all<ChangeRow>(pageText, params) : db.scan<ChangeRow>(pageText, params))
      if (after === beginning) return rows.slice(0, limit)
      return rows[0]?.id === after ? rows.slice(1) : undefined
    },

    /** What has happened to one entity. */
    async readHistory({ topic, entityId, before, limit, maxBytes }: HistoryQuery): Promise<HistoryPage> {
      const params = [topic, entityId, before ?? Number.MAX_SAFE_INTEGER, limit + 1, maxBytes]
      const rows = await db.scan<ChangeRow & { wanted: number }>(historyText, params)
      const isWhole = rows.length <= limit && rows.length === (rows[0]?.wanted ?? 0)
      return isWhole ? { entries: rows, previous: undefined } : { entries: rows.slice(0, -1), previous: rows.at(-1) }
    },

    /** Newest first. */
    readNewest: ({ topic, limit, maxDataBytes }: { topic: string; limit: number; maxDataBytes: number }) =>
      db.all<ChangeRow>(newestText, [topic, limit, maxDataBytes, beginning]),

    readByIds: (ids: readonly number[]) =>
      db.scan<ChangeRow>(`SELECT ${columns}, c.data FROM changes c WHERE ${idIsListed(db)} ORDER BY c.id`, [
        toIdList(db, ids),
      ]),

    async readIds(from: number, limit: number): Promise<number[]> {
      const rows = await db.all<{ id: number }>('SELECT id FROM changes WHERE id >= $1 ORDER BY id LIMIT $2', [
        from,
        limit,
      ])
      return rows.map(({ id }) => id)
    },

    /** Without their data. */
    readHeads: ({ after, limit }: Pick<PageQuery, 'after' | 'limit'>) =>
      db.all<Pick<ChangeRow, 'id' | 'type' | 'at'>>(
        'SELECT id, type, at FROM changes WHERE id > $1 ORDER BY id LIMIT $2',
        [after, limit],
      ),

    /** 0 if there is none. */
    async lastId(): Promise<number> {
      const row = await db.get<{ id: number }>('SELECT COALESCE(MAX(id), 0) AS id FROM changes')
      return row?.id ?? 0
    },

    /** The transactions on PostgreSQL that may have taken an id and not committed it yet. */
    async readHolders(): Promise<ReadonlySet<string>> {
      const rows = await db.all<{ holder: string }>(holdersText)
      return new Set(rows.map(({ holder }) => holder))
    },

    /** The id before the first that is missing, or the last one. Reads the whole index. */
    async lastIdBeforeGap(): Promise<number> {
      const [row] = await db.scan<{ id: number }>(beforeGapText)
      return row?.id ?? 0
    },

    /** The time of the first entry after this one. */
    async timeAfter(position: number): Promise<string | undefined> {
      const row = await db.get<{ at: string }>('SELECT at FROM changes WHERE id > $1 ORDER BY id LIMIT 1', [position])
      return row?.at
    },

    readOldest: (limit: number) =>
      db.all<Pick<ChangeRow, 'id' | 'at'>>('SELECT id, at FROM changes ORDER BY id LIMIT $1', [limit]),

    removeBefore: (id: number): Statement => ({
      sql: 'DELETE FROM changes WHERE id < $1',
      params: [id],
    }),
  }
}

export type ChangeStore = ReturnType<typeof createChangeStore>
