/**
 * Writes of several collections in one transaction, all or none. If it is rejected, it is rehearsed to find out which write was,
 * and why.
 */
import { AppError } from '../core/app-error.ts'
import type { ChangeLog } from '../platform/changes/change-log.ts'
import { isMissingReference } from '../platform/database/batch.ts'
import { ConstraintError, type Database, RowReference, type Statement } from '../platform/database/database.ts'
import { httpErrors } from '../platform/http/http-errors.ts'
import { parseId } from '../platform/http/ids.ts'
import { validationFailed } from '../platform/validation/body-validation.ts'
import type { Actor } from './actor.ts'
import type { Described } from './declare/describe.ts'
import type { Action } from './declare/rules.ts'
import { type Resource, resourceOf } from './resource.ts'
import { mayBeAnonymous } from './rules/values.ts'
import {
  type BatchedWrite,
  type CollectionService,
  expectEtag,
  type KnownRows,
  type PreparedWrite,
  type Registry,
} from './service.ts'

export interface Operation {
  method: string
  path: string
  body?: unknown
  if_match?: string
}

export interface OperationResult {
  status: number
  body: { data: Resource } | null
}

export interface BatchDeps {
  db: Database
  changes: Pick<ChangeLog, 'wake'>
  registry: Registry
}

export const maxOperations = 100
const maxTries = 3

interface Asked extends BatchedWrite {
  service: CollectionService
}

interface Planned {
  service: CollectionService
  write: PreparedWrite
  action: BatchedWrite['action']
  /** Of a row that was there before. */
  id: number | undefined
  /** The index of its first statement in the batch. */
  offset: number
}

export function createBatch({ db, changes, registry }: BatchDeps) {
  function readOperation({ method, path, body, if_match }: Operation): Asked {
    for (const service of registry.values()) {
      const base = service.collection.path
      if (path !== base && !path.startsWith(`${base}/`)) continue
      const [id = '', verb, ...rest] = path === base ? [] : path.slice(base.length + 1).split('/')
      const asked = {
        service,
        id: parseId(id),
        body,
        isExpected: if_match === undefined ? undefined : expectEtag(if_match),
      }
      if ((path === base || path === `${base}/`) && method === 'POST') return { ...asked, action: 'create' }
      const isOne = /^\d{1,20}$/.test(id) && rest.length === 0
      if (isOne && verb === 'restore' && method === 'POST') return { ...asked, action: 'restore' }
      if (isOne && verb === undefined && (method === 'PATCH' || method === 'PUT')) return { ...asked, action: 'update' }
      if (isOne && verb === undefined && method === 'DELETE') return { ...asked, action: 'delete' }
    }
    throw httpErrors.notFound()
  }

  async function plan(operations: readonly Operation[], actor: Actor): Promise<Planned[]> {
    const known = new Map<CollectionService, KnownRows>()
    const planned: Planned[] = []
    for (const [i, operation] of operations.entries()) {
      await atOperation(i, async () => {
        const { service, ...asked } = readOperation(operation)
        requireKey(service, asked.action === 'restore' ? 'delete' : asked.action, actor)
        const rows = known.get(service) ?? new Map()
        known.set(service, rows)
        const last = planned.at(-1)
        const offset = last ? last.offset + last.write.statements.length : 0
        const body = withReferences(asked.body, service.collection, planned)
        const write = await service.prepare({ ...asked, body }, { actor, offset, known: rows })
        planned.push({ service, write, action: asked.action, id: asked.id, offset })
      })
    }
    return planned
  }

  /** Finds the first write that is rejected, and why. Undefined if none is by now. */
  async function explain(planned: readonly Planned[]): Promise<AppError | undefined> {
    if (await isWritten(planned)) return undefined
    let [written, rejected] = [0, planned.length]
    while (rejected - written > 1) {
      const middle = Math.floor((written + rejected) / 2)
      if (await isWritten(planned.slice(0, middle))) written = middle
      else rejected = middle
    }
    const error = await explainLast(planned.slice(0, rejected))
    return error && withOperation(error, rejected - 1)
  }

  async function isWritten(planned: readonly Planned[]): Promise<boolean> {
    try {
      const rows = await rehearse(statementsOf(planned))
      return statementsOf(planned).every(({ decides }, i) => !decides || rows[i]?.length !== 0)
    } catch (error) {
      // It violates a constraint, or refers to a row that was not written.
      if (error instanceof ConstraintError || isMissingReference(error)) return false
      throw error
    }
  }

  /** All before the last are written. */
  async function explainLast(planned: readonly Planned[]): Promise<AppError | undefined> {
    const { write, offset } = planned.at(-1) as Planned
    const before = statementsOf(planned.slice(0, -1))
    try {
      const rows = (await rehearse(statementsOf(planned))).slice(offset)
      if (rows[write.at]?.length !== 0) return write.otherwise()
      const checked = write.check && (await rehearse([...before, write.check]))
      return await write.explain(checked?.[before.length]?.[0] as Record<string, unknown> | undefined)
    } catch (error) {
      if (!(error instanceof ConstraintError)) throw error
      const found = await rehearse([...before, ...write.taken])
      return write.explainTaken(found.slice(before.length))
    }
  }

  /** Runs them without deciding anything, and undoes it. */
  async function rehearse(statements: readonly Statement[]): Promise<object[][]> {
    const undecided = statements.map(({ decides: _decides, ...rest }) => rest)
    const rows = await db.write<object>(...undecided, { sql: 'SELECT 1 AS one', rehearses: true })
    return rows.slice(0, -1)
  }

  return {
    async run(operations: readonly Operation[], actor: Actor): Promise<OperationResult[]> {
      for (let tries = 0; ; tries++) {
        const planned = await plan(operations, actor)
        if (planned.length === 0) return []
        const rows = await db.write<Record<string, unknown>>(...statementsOf(planned)).catch((error: unknown) => {
          if (error instanceof ConstraintError) return undefined
          throw error
        })
        const isDone = rows?.[(planned[0] as Planned).write.at]?.[0] !== undefined
        if (rows && isDone) {
          changes.wake()
          return planned.map(({ service, write, action, offset }) => {
            const row = write.respond(rows[offset + write.at]?.[0] as Record<string, unknown>)
            const body = row ? { data: resourceOf({ of: service.collection, row }) } : null
            return { status: { create: 201, delete: 204 }[action as 'create'] ?? 200, body }
          })
        }
        const error = await explain(planned)
        if (error) throw error
        if (tries >= maxTries) throw new AppError(409, 'Conflict')
      }
    },
  }
}

export type Batch = ReturnType<typeof createBatch>

const statementsOf = (planned: readonly Planned[]) => planned.flatMap(({ write }) => write.statements)

/** 401 and 403 as on the collection's own routes. */
function requireKey({ collection }: CollectionService, action: Action, { userId, allows }: Actor): void {
  if (userId === null && !mayBeAnonymous(collection.rules?.[action], collection)) throw httpErrors.missingToken()
  if (allows?.(`${collection.name}.${action}`) === false) throw httpErrors.forbidden()
}

const reference = /^(\d{1,3})\.data\.id$/

const isReference = (value: unknown): value is { $ref: unknown } =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, '$ref')

/** In a relation, `{ "$ref": "0.data.id" }` is the id of the row that an earlier operation returns. */
function withReferences(body: unknown, { fields }: Described, planned: readonly Planned[]): unknown {
  if (typeof body !== 'object' || body === null) return body
  const given = Object.entries(body)
  const resolve = (value: unknown, path: string): unknown => {
    if (!isReference(value)) return value
    const at = Number(reference.exec(String(value.$ref))?.[1] ?? Number.NaN)
    const earlier = planned[at]
    if (!earlier || earlier.action === 'delete')
      throw validationFailed({ [path]: ['Must refer to the id of an earlier operation that returns a row'] })
    return earlier.id ?? new RowReference(earlier.offset + earlier.write.at, 'id')
  }
  return Object.fromEntries(
    given.map(([name, value]) => {
      if (!fields.get(name)?.target) return [name, value]
      const isList = Array.isArray(value)
      return [name, isList ? value.map((each, i) => resolve(each, `${name}.${i}`)) : resolve(value, name)]
    }),
  )
}

async function atOperation<T>(index: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AppError ? withOperation(error, index) : error
  }
}

/** Adds which operation was rejected. */
export function withOperation(error: AppError, operation: number): AppError {
  const { status, message, code, extra, headers, reason, problem } = error
  return new AppError(status, message, {
    code,
    extra: { ...extra, operation },
    ...(headers && { headers }),
    ...(reason !== undefined && { reason }),
    ...(problem && { problem }),
  })
}
