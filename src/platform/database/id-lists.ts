/** Selects rows by many ids with one SQL text, whatever their number, so that it is prepared only once. */
import type { Database } from './database.ts'

/** A condition on `id`, with the ids in the parameter `$1`. */
export function idIsListed({ dialect }: Pick<Database, 'dialect'>): string {
  return dialect === 'sqlite' ? 'id IN (SELECT value FROM json_each($1))' : 'id = ANY (CAST($1 AS BIGINT[]))'
}

/** Encodes the ids for that parameter. */
export function toIdList({ dialect }: Pick<Database, 'dialect'>, ids: readonly number[]): string {
  return dialect === 'sqlite' ? JSON.stringify(ids) : `{${ids.join()}}`
}
