/** Reads the audit trail. */
import { actorColumn, outcomeColumn } from '../../platform/audit/actor-backfill.ts'
import type { AuditChanges } from '../../platform/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { MaintainedCounts } from '../../platform/database/maintained-counts.ts'
import { offsetOf, type Page } from '../../platform/http/paging.ts'
import type { ListQuery } from '../../platform/listing/list-definition.ts'
import { createSortedList, type SortedPage } from '../../platform/listing/sorted-list.store.ts'
import { auditOrders } from './audit-orders.ts'

export interface AuditRow {
  at: string
  event: string
  user_id: number | null
  address: string
  user_agent: string
  outcome: string
  actor_id: number | null
  changes: AuditChanges | null
  /** Of the user and of the actor. Null if they have been deleted. */
  email: string | null
  actor_email: string | null
}

interface StoredRow extends Omit<AuditRow, 'changes'> {
  id: number
  changes: string | null
}

const select = `
  SELECT a.id, a.at, a.event, a.user_id, a.address, a.user_agent, ${outcomeColumn} AS outcome, ${actorColumn} AS actor_id,
         a.changes, u.email, actor.email AS actor_email
  FROM audit AS a LEFT JOIN users u ON u.id = a.user_id LEFT JOIN users actor ON actor.id = ${actorColumn}`

export function createAuditTrailStore({ db, counts }: { db: Database; counts: MaintainedCounts }) {
  const sorted = createSortedList<{ id: number }>({
    db,
    definition: auditOrders,
    columns: 'id',
    countAll: () => counts.total('audit'),
  })

  /** In the order of the ids. */
  async function readWhole(listed: readonly { id: number }[]): Promise<AuditRow[]> {
    const ids = listed.map(({ id }) => id)
    const rows = await db.scan<StoredRow>(`${select} WHERE a.${idIsListed(db)}`, [toIdList(db, ids)])
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? []).map(toEntry)
  }

  return {
    /** By page number, in the order in which they were written, the newest first. */
    async list(page: Page): Promise<{ rows: AuditRow[]; total: number }> {
      // Positions are counted from the oldest.
      const total = await counts.total('audit')
      const end = Math.max(0, total - offsetOf(page))
      const start = Math.max(0, end - page.perPage)
      const { id, skip } = await counts.find('audit', start)
      const rows = await db.all<StoredRow>(`${select} WHERE a.id >= $1 ORDER BY a.id LIMIT $2 OFFSET $3`, [
        id,
        end - start,
        skip,
      ])
      return { rows: rows.map(toEntry).reverse(), total }
    },

    async page(query: ListQuery): Promise<SortedPage<AuditRow>> {
      const { rows, ...page } = await sorted.page(query)
      return { ...page, rows: await readWhole(rows) }
    },

    /** All that passes the filters. */
    async *batches(query: ListQuery): AsyncGenerator<AuditRow[]> {
      for await (const listed of sorted.batches(query)) yield await readWhole(listed)
    },
  }
}

export type AuditTrailStore = ReturnType<typeof createAuditTrailStore>

/** Emails and names of users, which only those who may see users get to know. */
const personalField = /^(?:email|name)$|_email$/
const emailLike = /\S@\S/

/** Extensions have fields of their own, so values that look like an email are left out too. */
export function withoutPersonalData(row: AuditRow): AuditRow {
  const kept = Object.entries(row.changes ?? {}).filter(
    ([field, { from, to }]) => !personalField.test(field) && !emailLike.test(JSON.stringify([from, to])),
  )
  return { ...row, changes: kept.length === 0 ? null : Object.fromEntries(kept), email: null, actor_email: null }
}

function toEntry({ id: _id, changes, ...row }: StoredRow): AuditRow {
  return { ...row, changes: changes === null ? null : (JSON.parse(changes) as AuditChanges) }
}
