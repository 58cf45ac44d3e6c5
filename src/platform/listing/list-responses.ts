/** How sorted lists are described, and answered: `meta` and `Link` header. */
import type { TSchema } from 'typebox'
import { Type } from '../validation/schema-builder.ts'
import { operators } from './filter-values.ts'
import { writeListCursor } from './list-cursor.ts'
import type { FieldType, ListDefinition, ListQuery, Position } from './list-definition.ts'
import type { SortedPage } from './sorted-list.store.ts'

export const CursorMeta = Type.Object(
  {
    total: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'Null if counting would take long. `count=exact` counts anyway.',
    }),
    per_page: Type.Integer({ minimum: 1 }),
    next: Type.Union([Type.String(), Type.Null()], { description: 'The cursor of the next page.' }),
    prev: Type.Union([Type.String(), Type.Null()], { description: 'The cursor of the page before.' }),
  },
  { title: 'CursorMeta' },
)

export interface CursorMeta {
  total: number | null
  per_page: number
  next: string | null
  prev: string | null
}

export function cursorMetaOf(
  { sort, limit }: Pick<ListQuery, 'sort' | 'limit'>,
  page: Omit<SortedPage<unknown>, 'rows'>,
): CursorMeta {
  const cursor = (position: Position | undefined) => (position ? writeListCursor(sort, position) : null)
  return { total: page.total, per_page: limit, next: cursor(page.next), prev: cursor(page.previous) }
}

/** A `Link` header, RFC 8288: the same question with other cursors. Undefined if there is no other page. */
export function cursorLinksOf(
  path: string,
  query: Readonly<Record<string, unknown>>,
  { next, prev }: CursorMeta,
): string | undefined {
  const link = (cursor: string, rel: string) => {
    const given = Object.entries(query).filter(([name]) => name !== 'cursor' && name !== 'page') as [string, string][]
    return `<${path}?${new URLSearchParams([...given, ['cursor', cursor]])}>; rel="${rel}"`
  }
  const links = [...(prev === null ? [] : [link(prev, 'prev')]), ...(next === null ? [] : [link(next, 'next')])]
  return links.length > 0 ? links.join(', ') : undefined
}

const valueSchemas: Readonly<Record<FieldType, () => TSchema>> = {
  integer: () => Type.Integer(),
  cents: () => Type.Number(),
  text: () => Type.String(),
  boolean: () => Type.Boolean(),
  time: () => Type.String({ description: 'A date or a time of ISO 8601.' }),
}

/** The parameters of a list, for the API description. */
export function listQueryDocs({ fields }: ListDefinition): Record<string, TSchema> {
  const all = Object.entries(fields)
  const sorts = all.filter(([, { isSortable }]) => isSortable).flatMap(([name]) => [name, `-${name}`])
  const filters = all.flatMap(([name, { type, filter, values }]): [string, TSchema][] => {
    if (!filter) return []
    const bounds = filter === 'range' ? operators.map((operator) => `filter[${name}][${operator}]`) : []
    const schema = values ? () => Type.Union(values.map((value) => Type.Literal(value))) : valueSchemas[type]
    return [`filter[${name}]`, ...bounds].map((parameter) => [parameter, schema()])
  })
  return {
    sort: Type.Union(sorts.map((sort) => Type.Literal(sort))),
    ...Object.fromEntries(filters),
    cursor: Type.String({ description: '`meta.next` or `meta.prev` of another page in the same order.' }),
    count: Type.Literal('exact', { description: 'Counts what is filtered, however many there are.' }),
  }
}
