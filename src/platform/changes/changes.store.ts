import type { Database } from '../database/database.ts'
import { idIsListed, toIdList } from '../database/id-lists.ts'
import { beginning, type ChangeRow, firstEntry } from './change.ts'

/** Read on the event loop of SQLite; more takes milliseconds. */
const fewRows = 100

/** Of the entry that the migration makes. */
export const beginningTopic = 'log'

const columns = 'c.id, c.topic, c.type, c.entity_id, c.actor_id, c.actor_via, c.at'

/**
 * The entries after $1: at least one, and further ones as long as those before have fewer than $4 bytes. Lengths are known
 * without reading the texts. `wanted` is how many there are up to $2, at most $3.
 */
const pageText = (range: string, order: string) => `
  SELECT ${columns}, c.data, measured.wanted FROM changes c JOIN (
    SELECT id, SUM(bytes) OVER (ORDER BY id) - bytes AS bytes_before, COUNT(*) OVER () AS wanted FROM (
      SELECT id, octet_length(data) AS bytes FROM changes WHERE ${range} ORDER BY ${order} LIMIT $3
    ) AS wanted
  ) AS measured ON measured.id = c.id
  WHERE bytes_before < $4 ORDER BY c.id`

const pageOfAllText = pageText('id > $1 AND id <= $2', 'id')
// Compared as pairs, so that the index of the topic is read and not what others have logged in between.
const pageOfTopicText = pageText('(topic, id) > ($5, $1) AND (topic, id) <= ($5, $2)', 'topic, id')

/** Up to which entry all were removed, of whatever topic, by a node of the release before. */
const prefixText = `COALESCE((SELECT position FROM change_removals WHERE topic = ''), 0)`

/**
 * Whether somebody can have read up to $1, because the entry is kept or all up to there are not; and the newest entry that
 * was removed, of the topic $2 or of all.
 */
const standingText = `
  SELECT (SELECT COUNT(*) FROM changes WHERE id = $1) + (CASE WHEN ${prefixText} = $1 THEN 1 ELSE 0 END) AS known,
    COALESCE((SELECT MAX(position) FROM change_removals WHERE topic IN ('', COALESCE($2, topic))), 0) AS removed`

const lastOfTopicText = `
  SELECT id FROM changes WHERE topic = $1 AND (topic, id) <= ($1, $2) ORDER BY topic DESC, id DESC LIMIT 1`

/** The newest of each topic up to $1 stays: whoever has read up to it has missed nothing of the topic. */
const removeText = `
  DELETE FROM changes WHERE id < $1 AND (topic = '${beginningTopic}' OR id <> (
    SELECT MAX(newest.id) FROM changes AS newest WHERE newest.topic = changes.topic AND newest.id <= $1
  )) RETURNING id`

const recordRemovalText = `
  INSERT INTO change_removals (topic, position) SELECT topic, MAX(id) FROM changes AS c WHERE id < $1 AND EXISTS (
    SELECT 1 FROM changes AS newer WHERE newer.topic = c.topic AND newer.id > c.id AND newer.id <= $1
  ) GROUP BY topic
  ON CONFLICT (topic) DO UPDATE SET position = excluded.position`

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

/** The second one changes when the table is emptied by TRUNCATE, which logs nothing. */
const sinceText = `
  SELECT (SELECT COUNT(*) FROM changes WHERE topic = $1 AND (topic, id) > ($1, $2)) AS entries,
    pg_relation_filenode(to_regclass($3)) AS file`

/** Whoever has taken an id holds this lock until the end of the transaction, and takes it before the id. */
const holdersText = `
  SELECT virtualtransaction AS holder FROM pg_locks
  WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' AND granted
    AND relation = CAST(pg_get_serial_sequence('changes', 'id') AS regclass)
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Retention leaves gaps too, before the newest entry that it has removed. */
const beforeGapText = `
  SELECT COALESCE((
    SELECT id FROM (
      SELECT id, LEAD(id) OVER (ORDER BY id) AS following FROM changes
      WHERE id > (SELECT COALESCE(MAX(position), 0) FROM change_removals)
    ) AS all_ids
    WHERE following <> id + 1 ORDER BY id LIMIT 1
  ), (SELECT MAX(id) FROM changes), 0) AS id`

export interface PageQuery {
  /** All topics by default. */
  topic?: string | undefined
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

export interface StoredPage {
  rows: ChangeRow[]
  /** There are more up to the end of the query. */
  more: boolean
}

export function createChangeStore(db: Database) {
  /** Whether all entries after this one are kept. */
  async function isComplete(after: number, topic: string | undefined): Promise<boolean> {
    if (after === beginning) return true
    const standing = await db.get<{ known: number; removed: number }>(standingText, [after, topic ?? null])
    const { known = 0, removed = 0 } = standing ?? {}
    return after >= removed && (known > 0 || after === firstEntry)
  }

  return {
    /** Undefined if the entry at `after` is not kept, and others may thus be missing. */
    async readPage({ topic, after, to, limit, maxBytes }: PageQuery): Promise<StoredPage | undefined> {
      const sql = topic === undefined ? pageOfAllText : pageOfTopicText
      const params = [after, to, limit + 1, maxBytes, ...(topic === undefined ? [] : [topic])]
      const read = limit <= fewRows ? db.all : db.scan
      const found = await read<ChangeRow & { wanted: number }>(sql, params)
      // After the rows: retention may remove some of them in between, and say so.
      if (!(await isComplete(after, topic))) return undefined
      const rows = found.slice(0, limit)
      return { rows, more: rows.length < (found[0]?.wanted ?? 0) }
    },

    /** The last entry of the topic up to this one. If there is none, a position before all that are kept. */
    async lastIdOf(topic: string, to: number): Promise<number> {
      const last = await db.get<{ id: number }>(lastOfTopicText, [topic, to])
      if (last) return last.id
      const prefix = await db.get<{ position: number }>(`SELECT ${prefixText} AS position`)
      return Math.max(firstEntry, prefix?.position ?? firstEntry)
    },

    /** On PostgreSQL: what is committed now of a topic beyond an entry up to which the log is complete, in whatever order. */
    async readSince(topic: string, after: number, table: string): Promise<string> {
      const since = await db.get<{ entries: number; file: number }>(sinceText, [topic, after, table])
      return `${since?.entries} ${since?.file}`
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
      db.all<Pick<ChangeRow, 'id' | 'topic' | 'at'>>('SELECT id, topic, at FROM changes ORDER BY id LIMIT $1', [limit]),

    /** Entries before this one, except the newest of each topic. Returns how many. */
    async removeBefore(id: number): Promise<number> {
      const [, removed] = await db.write({ sql: recordRemovalText, params: [id] }, { sql: removeText, params: [id] })
      return removed.length
    },
  }
}

export type ChangeStore = ReturnType<typeof createChangeStore>
