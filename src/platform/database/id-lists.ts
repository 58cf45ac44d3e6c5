/** Rows by many ids at once, in a text that stays the same however many there are: it is prepared once. */
import type { Database } from './database.ts'

/** A condition on `id`, with the ids in the parameter `$1`. */
export function idIsListed({ dialect }: Pick<Database, 'dialect'>): string {
  return dialect === 'sqlite' ? 'id IN (SELECT value FROM json_each($1))' : 'id = ANY (CAST($1 AS BIGINT[]))'
}

/** What the parameter is to be. */
export function toIdList({ dialect }: Pick<Database, 'dialect'>, ids: readonly number[]): string {
  return dialect === 'sqlite' ? JSON.stringify(ids) : `{${ids.join()}}`
}
