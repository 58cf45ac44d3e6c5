/** Rows as records of a file, in the order of a list, a page at a time. */

import type { CsvCell } from '../../platform/csv/csv-text.ts'
import { writeListCursor } from '../../platform/listing/list-cursor.ts'
import type { Actor, Row } from '../actor.ts'
import { decideRule } from '../rules/values.ts'
import { type CollectionService, shownFieldsOf } from '../service.ts'
import type { GivenList } from '../store/lists.ts'

/** What the commands need of a collection that is open. */
export interface OpenCollection {
  internals: { service: CollectionService }
}

const perPage = '100'

/** `id`, and the fields that the actor may read. */
export function exportedFields({ collection }: CollectionService, { principal }: Actor): string[] {
  const readable = shownFieldsOf(collection).filter(({ definition: { options } }) => {
    return !options.readable || !principal || decideRule(options.readable, principal) !== false
  })
  return ['id', ...readable.map(({ name }) => name)]
}

export async function* exportRows(
  service: CollectionService,
  { given, actor }: { given: GivenList; actor: Actor },
): AsyncGenerator<readonly Row[]> {
  let cursor: string | undefined
  do {
    const page = await service.list({ ...given, per_page: perPage, page: undefined, cursor }, actor)
    if (page.rows.length > 0) yield page.rows.map(({ row }) => row)
    cursor = page.next && writeListCursor(page.sort, page.next)
  } while (cursor !== undefined)
}

/** Lists and JSON are written as JSON. */
export function toCell(value: unknown): CsvCell {
  if (value === undefined || value === null) return null
  return typeof value === 'object' ? JSON.stringify(value) : (value as CsvCell)
}
