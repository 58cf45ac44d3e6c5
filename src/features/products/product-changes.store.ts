/** The statements that change one product. Each adds an entry to the change log, by a trigger. */
import type { Statement } from '../../platform/database/database.ts'
import type { ProductChange } from './product.ts'
import { columns, writtenColumns, writtenValues } from './product-columns.store.ts'

/** The user who makes a change, for the change log. Null if nobody is signed in. */
export type Actor = number | null

export interface Changed {
  id: number
  /** Null for any. Of another version, nothing is changed. */
  version: number | null
  by: Actor
  now: string
}

/** What is returned of what was changed: everything, or only the id, because descriptions may be long. */
type Returned = 'all' | 'id'

const parameterOf = (column: (typeof writtenColumns)[number]) => `$${writtenColumns.indexOf(column) + 5}`
// The same name keeps its slug, which an earlier version may have derived by another rule.
const newSlug = `CASE WHEN name <> ${parameterOf('name')} THEN ${parameterOf('slug')} END`

const update = `UPDATE products SET
    ${writtenColumns.map((column) => `${column} = COALESCE(${column === 'slug' ? newSlug : parameterOf(column)}, ${column})`).join(', ')},
    version = version + 1, updated_at = $2, changed_by = $4, changed_by_version = version + 1
  WHERE id = $1 AND deleted_at IS NULL AND version = COALESCE($3, version)`

const updateTexts: Readonly<Record<Returned, string>> = {
  all: `${update} RETURNING ${columns}`,
  id: `${update} RETURNING id`,
}

const deleteText = `UPDATE products SET deleted_at = $2, updated_at = $2, version = version + 1, changed_by = $4,
    changed_by_version = version + 1
  WHERE id = $1 AND deleted_at IS NULL AND version = COALESCE($3, version) RETURNING id`

const restore = `UPDATE products SET deleted_at = NULL, updated_at = $2, version = version + 1, changed_by = $4,
    changed_by_version = version + 1
  WHERE id = $1 AND deleted_at > $3`

const restoreTexts: Readonly<Record<Returned, string>> = {
  all: `${restore} RETURNING ${columns}`,
  id: `${restore} RETURNING id`,
}

/** What is not given stays as it is. */
export function updating({ id, version, by, now }: Changed, change: ProductChange, returned: Returned): Statement {
  return { sql: updateTexts[returned], params: [id, now, version, by, ...writtenValues(change)] }
}

export function deleting({ id, version, by, now }: Changed): Statement {
  return { sql: deleteText, params: [id, now, version, by] }
}

/** `since` is when it must have been deleted at the earliest. */
export function restoring({ id, by, now }: Omit<Changed, 'version'>, since: string, returned: Returned): Statement {
  return { sql: restoreTexts[returned], params: [id, now, since, by] }
}
