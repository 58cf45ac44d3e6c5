/** Pagination of listings: query, `meta` and `Link` header. */
import type { Static } from 'typebox'
import { Type } from '../validation/schema-builder.ts'

export interface Page {
  page: number
  perPage: number
}

const defaultPerPage = 20
const maxPerPage = 100

export const PageMeta = Type.Object(
  {
    total: Type.Integer({ minimum: 0 }),
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: maxPerPage }),
    last_page: Type.Integer({ minimum: 1 }),
  },
  { title: 'PageMeta' },
)
export type PageMeta = Static<typeof PageMeta>

/** For the API description only: invalid values fall back to their defaults. */
export const pageQuery = {
  page: Type.Integer({ minimum: 1, default: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: maxPerPage, default: defaultPerPage }),
}

/** Values that are not positive integers fall back to their defaults. */
export function pageOf(query: unknown): Page {
  const { page, per_page } = (query ?? {}) as Record<string, unknown>
  return { page: positive(page) ?? 1, perPage: Math.min(positive(per_page) ?? defaultPerPage, maxPerPage) }
}

export function offsetOf({ page, perPage }: Page): number {
  return Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)
}

export function metaOf({ page, perPage }: Page, total: number): PageMeta {
  return { total, page, per_page: perPage, last_page: Math.max(1, Math.ceil(total / perPage)) }
}

/** A `Link` header: RFC 8288. */
export function linksOf(path: string, { page, per_page, last_page }: PageMeta): string {
  const link = (to: number, rel: string) => `<${path}?page=${to}&per_page=${per_page}>; rel="${rel}"`
  return [
    link(1, 'first'),
    ...(page > 1 ? [link(Math.min(page - 1, last_page), 'prev')] : []),
    ...(page < last_page ? [link(page + 1, 'next')] : []),
    link(last_page, 'last'),
  ].join(', ')
}

function positive(given: unknown): number | undefined {
  const number = typeof given === 'string' && /^\d+$/.test(given) ? Math.min(Number(given), Number.MAX_SAFE_INTEGER) : 0
  return number > 0 ? number : undefined
}
