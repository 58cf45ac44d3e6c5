/**
 * The audit trail as the console asks for it: with the parameters of the REST API, whose blanks count for nothing, emails
 * instead of numbers, and times as forms have them.
 */
import { normaliseEmail } from '../../../core/email.ts'
import type { ListQuery } from '../../../platform/listing/list-definition.ts'
import { asksForList, readListQuery } from '../../../platform/listing/list-query.ts'
import { type ListParameters, queryProblemOf, withoutBlanks } from '../../../platform/pages/components/list-links.ts'
import { validationFailed } from '../../../platform/validation/body-validation.ts'
import { auditOrders } from '../audit-orders.ts'

export interface AskedAudit {
  /** What was asked for, without the position in it. */
  shown: ListParameters
  /** Whether it is sorted or filtered, or read from a cursor. */
  isSorted: boolean
  /** Undefined if there is a problem. */
  query: ListQuery | undefined
  problem?: string
}

export interface AuditQueryDeps {
  perPage: number
  /** Undefined if the reader may not know emails. */
  findId: ((email: string) => Promise<number | undefined>) | undefined
}

export async function readAuditQuery(
  given: Readonly<Record<string, unknown>>,
  { perPage, findId }: AuditQueryDeps,
): Promise<AskedAudit> {
  const { page: _page, per_page: _perPage, cursor, columns: _columns, ...all } = withoutBlanks(given)
  const known = Object.entries(all).filter(([name]) => name === 'sort' || name === 'count' || name.startsWith('filter'))
  const shown = Object.fromEntries(known.map(([name, value]) => [name, shownTime(name, value)]))
  const asked = { shown, isSorted: asksForList({ ...shown, cursor: cursor ?? '' }) }
  try {
    const query = { ...shown, ...(await numbersOf(shown, findId)), ...exactTimes(shown), ...(cursor && { cursor }) }
    return { ...asked, query: { ...readListQuery(query, auditOrders), limit: perPage } }
  } catch (error) {
    const problem = queryProblemOf(error)
    return { ...asked, query: undefined, problem }
  }
}

/** The numbers of users who are given by their emails. */
async function numbersOf(shown: ListParameters, findId: AuditQueryDeps['findId']): Promise<ListParameters> {
  const numbers: Record<string, string> = {}
  for (const name of ['filter[user]', 'filter[actor]']) {
    const text = shown[name]
    if (text === undefined || !text.includes('@') || !findId) continue
    const id = await findId(normaliseEmail(text))
    if (id === undefined) throw validationFailed({ [name]: ['Nobody has this email'] })
    numbers[name] = String(id)
  }
  return numbers
}

const minute = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/
const day = /^\d{4}-\d\d-\d\d$/
const from = 'filter[at][gte]'
const to = 'filter[at][lte]'

/** As an input of the type datetime-local has it, in UTC. */
function shownTime(name: string, text: string): string {
  if (name !== from && name !== to) return text
  if (day.test(text)) return `${text}T${name === from ? '00:00' : '23:59'}`
  const date = new Date(minute.test(text) ? `${text}Z` : text)
  return Number.isNaN(date.getTime()) ? text : date.toISOString().slice(0, 16)
}

/** A minute is meant as a whole. */
function exactTimes(shown: ListParameters): ListParameters {
  const [low = '', high = ''] = [shown[from], shown[to]]
  return {
    ...(minute.test(low) && { [from]: `${low}:00.000Z` }),
    ...(minute.test(high) && { [to]: `${high}:59.999Z` }),
  }
}
