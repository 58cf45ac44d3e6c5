/** Finds rows that a relation may refer to, while the user types. See assets/relations.js. */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../core/app-error.ts'
import { lowerByCodePoint } from '../../core/text.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { parseId } from '../../platform/http/ids.ts'
import { writeListCursor } from '../../platform/listing/list-cursor.ts'
import type { Actor, Row } from '../actor.ts'
import type { Described } from '../declare/describe.ts'
import type { CollectionService } from '../service.ts'
import { findUsers } from '../store/users.ts'
import { actorFor, type PagesContext, page } from './context.ts'
import { titleOf } from './fields.ts'

const maxFound = 10
const maxIds = 100
/** Pages of the newest rows that are looked at, where a collection cannot be searched. */
const maxPages = 5
const maxLength = 255

export function addRelationSearch(app: FastifyInstance, { service, registry, includes, db }: PagesContext): void {
  const { collection } = service

  async function find(target: Described, q: string, actor: Actor): Promise<readonly Row[]> {
    const id = parseId(q)
    const byId = id === undefined ? [] : [...(await includes.readByIds(target, [id], actor)).values()]
    const related = registry.get(target)
    const found = related
      ? ((await searchRows(related, { q, limit: maxFound, actor })) ?? (await findByTitle(related, q, actor)))
      : await findUsers(db, q, { actor, limit: maxFound })
    return [...byId, ...found.filter((row) => row.id !== id)].slice(0, maxFound)
  }

  app.get<{ Params: { field: string }; Querystring: Record<string, unknown> }>(
    `/${collection.name}/relations/:field`,
    page,
    async (request) => {
      const target = collection.fields.get(request.params.field)?.target
      if (!target) throw httpErrors.notFound()
      const [actor, { q, id }] = [actorFor(request), request.query]
      const ids = String(id ?? '')
        .split(',')
        .slice(0, maxIds)
        .flatMap((each) => parseId(each) ?? [])
      const rows =
        id === undefined
          ? await find(
              target,
              String(q ?? '')
                .trim()
                .slice(0, maxLength),
              actor,
            )
          : (await includes.readByIds(target, ids, actor)).values()
      return { data: [...rows].map((row) => ({ id: row.id, title: titleOf(target, row) })) }
    },
  )
}

/** Undefined if this user cannot search the collection. */
export async function searchRows(
  service: CollectionService,
  { q, limit, actor }: { q: string; limit: number; actor: Actor },
): Promise<Row[] | undefined> {
  if (q === '' || service.collection.lists.search.length === 0) return undefined
  try {
    const { rows } = await service.list({ filters: [], q: q.slice(0, maxLength), per_page: String(limit) }, actor)
    return rows.map(({ row }) => row)
  } catch (error) {
    // Such as a field that this user may not search by.
    if (error instanceof AppError && error.status < 500) return undefined
    throw error
  }
}

/** By their titles, among the newest. */
async function findByTitle(service: CollectionService, q: string, actor: Actor): Promise<Row[]> {
  const key = lowerByCodePoint(q)
  const found: Row[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < maxPages && found.length < maxFound; pages++) {
    const read = await service.list({ filters: [], sort: '-id', per_page: '100', cursor }, actor)
    const rows = read.rows.map(({ row }) => row)
    found.push(...rows.filter((row) => lowerByCodePoint(titleOf(service.collection, row)).includes(key)))
    if (!read.next) break
    cursor = writeListCursor(read.sort, read.next)
  }
  return found.slice(0, maxFound)
}
