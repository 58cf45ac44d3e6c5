/** The addresses of the list of products. They hold everything that was asked for, so they can be shared. */
import { listAddress as addressOf, type ListParameters } from '../../../platform/pages/components/list-links.ts'

export const listPath = '/console/products'

export const listAddress = (query: ListParameters): string => addressOf(listPath, query)

const kept = new Set(['q', 'category', 'page', 'sort', 'cursor', 'count', 'columns'])

/** Those of an address that tell what is listed, without what happened or is to happen on the page. */
export function listParameters(query: ListParameters): ListParameters {
  const shown = Object.entries(query).filter(([name]) => kept.has(name) || name.startsWith('filter['))
  return Object.fromEntries(shown)
}

/** Of a form's `back`, which may be anything: it becomes the address of a list, and nothing else. */
export function backAddress(given: unknown): string {
  const text = typeof given === 'string' ? given : ''
  return listAddress(listParameters(Object.fromEntries(new URLSearchParams(text))))
}
