/** Reads lists in an order of choice, by the parameters of the API and the fields of the console's forms. */
import { readFilterValue, wrongValue } from '../../../platform/listing/filter-values.ts'
import type { ListField, ListQuery, Position, Sort } from '../../../platform/listing/list-definition.ts'
import { asksForList, readListQuery } from '../../../platform/listing/list-query.ts'
import type { SortedList } from '../../../platform/listing/sorted-list.store.ts'
import { type ListParameters, queryProblemOf } from '../../../platform/pages/components/list-links.ts'
import { validationFailed } from '../../../platform/validation/body-validation.ts'
import { plainPrice } from '../price-text.ts'
import { type Product, toNameKey } from '../product.ts'
import { productOrders } from '../product-orders.ts'
import type { Ordered } from './ordered.views.ts'
import { plainNumber } from './plain-number.ts'

const newestFirst = '-id'

export function asksForOrder({ from, ...given }: ListParameters): boolean {
  return asksForList(given) || from !== undefined
}

/** The query of a list: as in the API, but numbers may be written as they are shown. Throws 422. */
export function orderedQueryOf(given: ListParameters): ListQuery {
  const { q, category, cursor, count, from, ...all } = given
  const filters = ordersAndFilters(all)
  const query = readListQuery(
    {
      sort: newestFirst,
      ...filters,
      ...plainNumbers(filters),
      ...(q !== undefined && { q }),
      ...(cursor !== undefined && { cursor }),
      ...(count !== undefined && { count }),
      ...(category !== undefined && { 'filter[category]': category }),
    },
    productOrders,
  )
  return from === undefined || query.position ? query : { ...query, position: positionAt(from, query.sort) }
}

/** What is wrong with the query is part of what is shown. */
export async function readOrdered(
  sorted: SortedList<Product>,
  given: ListParameters,
  { kept, limit }: { kept: ListParameters; limit: number },
): Promise<Ordered> {
  const { q, category } = given
  const query = {
    ...(q !== undefined && { q }),
    ...ordersAndFilters(given),
    ...(category !== undefined && { category }),
    ...kept,
  }
  try {
    const asked = orderedQueryOf(given)
    return { query, sort: asked.sort, page: await sorted.page({ ...asked, limit }) }
  } catch (error) {
    const problem = queryProblemOf(error)
    const nothing = { rows: [], total: 0, next: undefined, previous: undefined }
    return { query, sort: productOrders.defaultSort, page: nothing, problem }
  }
}

function ordersAndFilters(given: ListParameters): Record<string, string> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => name === 'sort' || name.startsWith('filter')))
}

function plainNumbers(query: ListParameters): Record<string, string> {
  const numbers = Object.entries(query).filter(([name]) => /^filter\[(price|stock)\]/.test(name))
  // Here a comma before three digits is as it is shown: a filter can be looked at before anything happens.
  return Object.fromEntries(
    numbers.map(([name, value]) => [
      name,
      name.includes('price') ? plainPrice(plainNumber(value)) : plainNumber(value),
    ]),
  )
}

/** Greater than every other character. */
const lastCharacter = '\u{10ffff}'

/** Before the first row with this value or one that follows it. Throws 422. */
function positionAt(from: string, { field, isDescending }: Sort): Position {
  const { type } = productOrders.fields[field] as ListField
  const text = type === 'text' ? from : plainPrice(plainNumber(from))
  const value = readFilterValue(text.trim(), type)
  if (value === undefined) throw validationFailed({ from: [wrongValue[type]] })
  const id = isDescending ? Number.MAX_SAFE_INTEGER : 0
  if (field === 'id') return { value, id: Number(value) + (isDescending ? 1 : -1), isBefore: false }
  if (type !== 'text') return { value, id, isBefore: false }
  // Names that begin with it.
  const key = toNameKey(String(value))
  return { value: isDescending ? `${key}${lastCharacter}` : key, id, isBefore: false }
}
