import type { Statement } from '../../src/platform/database/database.ts'

export interface GivenEntry {
  at: string
  event: string
  outcome: string
  user_id: number | null
  actor_id: number | null
  address: string
}

const columns = ['at', 'event', 'outcome', 'user_id', 'actor_id', 'address'] as const
/** Few texts, since each is prepared and kept. */
const rowsPerStatement = 500

/** Statements that add entries to the audit trail, in this order. */
export function addEntries(entries: readonly GivenEntry[]): Statement[] {
  const statements: Statement[] = []
  for (let first = 0; first < entries.length; first += rowsPerStatement) {
    const some = entries.slice(first, first + rowsPerStatement)
    const rows = some.map(
      (_, row) => `(${columns.map((_, i) => `$${row * columns.length + i + 1}`).join()}, 'curl/8.14.1')`,
    )
    statements.push({
      sql: `INSERT INTO audit (${columns.join()}, user_agent) VALUES ${rows.join()}`,
      params: some.flatMap((entry) => columns.map((column) => entry[column])),
    })
  }
  return statements
}
