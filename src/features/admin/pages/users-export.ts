/** Users as CSV. */
import type { CsvDownload } from '../../../platform/csv/csv-download.ts'
import type { CsvCell } from '../../../platform/csv/csv-text.ts'
import type { Admin } from '../admin.service.ts'
import type { ListedUser } from '../admin.store.ts'
import { readUserQuery } from '../user-orders.ts'
import type { AskedUsers } from './users-query.ts'

const perBatch = 500

const cells: readonly (readonly [head: string, cell: (user: ListedUser) => CsvCell])[] = [
  ['id', ({ id }) => id],
  ['email', ({ email }) => email],
  ['name', ({ name }) => name],
  ['roles', ({ roles }) => roles.join(' ')],
  ['two_factor', ({ two_factor }) => two_factor],
  ['locked_until', ({ locked_until }) => (locked_until === null ? null : new Date(locked_until * 1000).toISOString())],
  ['disabled_at', ({ disabled_at }) => disabled_at],
  ['email_verified_at', ({ email_verified_at }) => email_verified_at],
  ['created_at', ({ created_at }) => created_at],
]

export function exportUsers(users: Admin['sorted'], { q, query }: AskedUsers): CsvDownload {
  const found =
    q === '' ? users.batches({ ...(query ?? readUserQuery({})), limit: perBatch }) : users.batchesOf(q, perBatch)
  async function* batches() {
    for await (const some of found) yield some.map((user) => cells.map(([, cell]) => cell(user)))
  }
  return { name: 'users', head: cells.map(([head]) => head), batches: batches() }
}
