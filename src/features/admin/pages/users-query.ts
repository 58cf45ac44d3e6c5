/** Users as the console asks for them: with the parameters of the REST API, whose blanks count for nothing. */
import type { ListQuery } from '../../../platform/listing/list-definition.ts'
import { asksForList } from '../../../platform/listing/list-query.ts'
import { type ListParameters, queryProblemOf, withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import { readUserQuery } from '../user-orders.ts'

export interface AskedUsers {
  /** Blank if nothing is searched for. */
  q: string
  /** What was asked for, without the position in it. */
  shown: ListParameters
  /** If it is sorted or filtered. */
  query: ListQuery | undefined
  problem?: string
}

export function readUsersQuery(given: Readonly<Record<string, unknown>>, perPage: number): AskedUsers {
  const { cursor = '', q = '', ...all } = withoutBlanks(given)
  const known = Object.entries(all).filter(([name]) => name === 'sort' || name === 'count' || name.startsWith('filter'))
  const shown = Object.fromEntries(known)
  const asked = { q: q.trim(), shown: { ...(q.trim() !== '' && { q: q.trim() }), ...shown } }
  if (!asksForList({ ...shown, cursor })) return { ...asked, query: undefined }
  try {
    return { ...asked, query: { ...readUserQuery({ ...asked.shown, cursor }), limit: perPage } }
  } catch (error) {
    const problem = queryProblemOf(error)
    return { ...asked, query: undefined, problem }
  }
}
