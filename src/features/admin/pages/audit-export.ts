/** The audit trail as CSV. */
import type { CsvDownload } from '../../../platform/csv/csv-download.ts'
import type { CsvCell } from '../../../platform/csv/csv-text.ts'
import type { ListQuery } from '../../../platform/listing/list-definition.ts'
import { type AuditRow, type AuditTrailStore, withoutPersonalData } from '../audit-trail.store.ts'
import { wordsOfChanges } from './audit-words.ts'

/** A quarter of a megabyte or less at a time. */
const perBatch = 500

type Cells = readonly (readonly [head: string, cell: (row: AuditRow) => CsvCell])[]

const emails: Cells = [
  ['user_email', ({ email }) => email],
  ['actor_email', ({ actor_email }) => actor_email],
]

const cells: Cells = [
  ['at', ({ at }) => at],
  ['event', ({ event }) => event],
  ['outcome', ({ outcome }) => outcome],
  ['user_id', ({ user_id }) => user_id],
  ['actor_id', ({ actor_id }) => actor_id],
  ['address', ({ address }) => address],
  ['user_agent', ({ user_agent }) => user_agent],
  ['changes', ({ changes }) => wordsOfChanges(changes).join('; ')],
]

export function exportAudit(
  auditTrail: Pick<AuditTrailStore, 'batches'>,
  { query, canSeeUsers }: { query: ListQuery; canSeeUsers: boolean },
): CsvDownload {
  const all = canSeeUsers ? [...cells, ...emails] : cells
  async function* batches() {
    for await (const rows of auditTrail.batches({ ...query, position: undefined, skip: 0, limit: perBatch })) {
      const shown = canSeeUsers ? rows : rows.map(withoutPersonalData)
      yield shown.map((row) => all.map(([, cell]) => cell(row)))
    }
  }
  return { name: 'audit-trail', head: all.map(([head]) => head), batches: batches() }
}
