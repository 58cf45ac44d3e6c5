/** What the pages of a collection share. */
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import { type Principal, principalOf } from '../../platform/access/route-guards.ts'
import type { Database } from '../../platform/database/database.ts'
import type { PageKit } from '../../platform/pages/console-pages.ts'
import { type Actor, actorOf, type Row } from '../actor.ts'
import type { Described } from '../declare/describe.ts'
import type { Action } from '../declare/rules.ts'
import { decideRule } from '../rules/values.ts'
import type { CollectionService, ReadRow, Registry } from '../service.ts'
import type { ImportProgress } from '../store/import-progress.ts'
import type { Includes } from '../store/includes.ts'
import type { Uploads } from '../transfer/uploads.ts'
import { type Titles, titleOf } from './fields.ts'

export interface CollectionPagesDeps {
  db: Database
  service: CollectionService
  includes: Includes
  registry: Registry
  random: Random
  uploads: Uploads
  imports: ImportProgress
}

export type PagesContext = CollectionPagesDeps & PageKit

export const page = { config: { access: 'authenticated', docs: false } } as const
export const rowPath = ({ name }: Described) => `/${name}/:id(^[0-9]+$)`
export const actorFor = (request: FastifyRequest): Actor => actorOf(principalOf(request))

/** Access to a page that needs a rule, as far as it can be decided without a row and before the body is read. */
export function pageFor(service: CollectionService, action: Action) {
  return { ...page, onRequest: async (request: FastifyRequest) => service.requireDecided(action, actorFor(request)) }
}

/** Whether there may be rows for which this is allowed. */
export function mayEver({ rules }: Described, principal: Principal, action: Action): boolean {
  const rule = rules?.[action]
  const { principal: standing } = actorOf(principal)
  return rule !== undefined && standing !== undefined && decideRule(rule, standing) !== false
}

/** Undefined for a row that the actor may not read. */
export async function findRow(
  service: CollectionService,
  id: number | undefined,
  actor: Actor,
): Promise<ReadRow | undefined> {
  return service.get(id, actor).catch((error: unknown) => {
    if (error instanceof AppError && error.status === 404) return undefined
    throw error
  })
}

/** Of the rows that these refer to, as far as the reader may see them. Values may be texts, as a form has them. */
export async function readTitles(
  { fields }: Described,
  rows: readonly Readonly<Record<string, unknown>>[],
  { includes, actor }: { includes: Includes; actor: Actor },
): Promise<Titles> {
  const ids = new Map<Described, number[]>()
  for (const { name, target } of fields.values()) {
    if (!target) continue
    const found = rows.flatMap((row) => ([row[name] ?? []].flat() as unknown[]).map(Number))
    ids.set(target, [...(ids.get(target) ?? []), ...found.filter((id) => Number.isSafeInteger(id) && id > 0)])
  }
  const read = [...ids].map(async ([target, wanted]) => {
    const found = await includes.readByIds(target, wanted, actor)
    return [target, new Map([...found].map(([id, row]) => [id, titleOf(target, row)]))] as const
  })
  return new Map(await Promise.all(read))
}

/** A deleted row that this user may restore, by what stands for it. */
export async function findDeleted(
  service: CollectionService,
  id: number | undefined,
  actor: Actor,
): Promise<{ id: number; name: string } | undefined> {
  const row: Row | undefined = await service.findDeleted(id, actor)
  return row && { id: row.id, name: titleOf(service.collection, row) }
}
