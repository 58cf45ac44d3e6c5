/** The rows that rules ask for while they are evaluated, loaded as they do. */
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Database, Value } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Described } from '../declare/describe.ts'
import type { RuleFacts, StoredRow } from '../rules/predicate.ts'
import { quote, storedFieldsOf } from '../schema/tables.ts'

export interface RelatedRowsDeps {
  db: Database
  changes: Pick<ChangeLog, 'store'>
  /** Finds deleted rows too, as they last were according to the log. */
  keepsDeleted: boolean
}

/** Calls `work` until it has found all rows that it asks for. */
export type Judge = <T>(work: (find: RuleFacts['findRelated']) => T) => Promise<T>

export function createRelatedRows({ db, changes, keepsDeleted }: RelatedRowsDeps): Judge {
  const rows = new Map<string, StoredRow | undefined>()
  const keyOf = (target: Described, id: number) => `${target.name} ${id}`

  return async (work) => {
    for (;;) {
      const missing = new Map<Described, Set<number>>()
      const result = work((target, id) => {
        const key = keyOf(target, id)
        if (!rows.has(key)) missing.set(target, (missing.get(target) ?? new Set()).add(id))
        return rows.get(key)
      })
      if (missing.size === 0) return result
      for (const [target, ids] of missing) {
        const found = new Map((await readRows(target, [...ids])).map((row) => [row.id, row]))
        for (const id of ids) {
          const isGone = keepsDeleted && target.rules && !found.has(id)
          rows.set(keyOf(target, id), isGone ? await readDeleted(target, id) : found.get(id))
        }
      }
    }
  }

  async function readRows(target: Described, ids: readonly number[]): Promise<StoredRow[]> {
    const columns = storedFieldsOf(target).map(({ name }) => quote(name))
    const live = target.rules ? ' AND deleted_at IS NULL' : ''
    const sql = `SELECT ${columns.join(', ')} FROM ${quote(target.table)} WHERE ${idIsListed(db)}${live}`
    const found = await db.all<Record<string, Value>>(sql, [toIdList(db, ids)])
    return found.map((row) => asInLog(row, target))
  }

  async function readDeleted(target: Described, entityId: number): Promise<StoredRow | undefined> {
    const { entries } = await changes.store.readHistory({ topic: target.name, entityId, limit: 1, maxBytes: 1 })
    return entries[0] && (JSON.parse(entries[0].data) as StoredRow)
  }
}

/** As rows are in the log: in tables lists are texts, and booleans of SQLite numbers. */
function asInLog(row: Readonly<Record<string, Value>>, { fields }: Described): StoredRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const { kind } = fields.get(name) ?? {}
      if (value === null) return [name, null]
      return [name, kind === 'list' ? JSON.parse(String(value)) : kind === 'boolean' ? Boolean(value) : value]
    }),
  )
}
