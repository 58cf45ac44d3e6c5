/**
 * What can be done with the rows of a collection, by REST, GraphQL, commands and other features: reads and writes under the
 * rules, with hooks, and with what depends on a row when it is deleted.
 */
import { hash } from 'node:crypto'
import { AppError } from '../core/app-error.ts'
import type { ChangeRow } from '../platform/changes/change.ts'
import { ConstraintError, rowOf, type Statement, type Value } from '../platform/database/database.ts'
import { matchEtags } from '../platform/http/conditional-requests.ts'
import { httpErrors } from '../platform/http/http-errors.ts'
import type { Infrastructure } from '../platform/infrastructure.ts'
import { Params } from '../platform/listing/list-params.ts'
import { validationFailed } from '../platform/validation/body-validation.ts'
import { Problems } from '../platform/validation/problems.ts'
import { type Actor, anonymous, type Row, readerOf, system } from './actor.ts'
import { createRelatedRows } from './changes/related-rows.ts'
import { type Described, type DescribedField, describedUsers, isOwnField, isStored } from './declare/describe.ts'
import type { Action, FieldPath, Rule } from './declare/rules.ts'
import { isAllowed, type StoredRow } from './rules/predicate.ts'
import { describeRule } from './rules/sentence.ts'
import { decideRule } from './rules/values.ts'
import { keyTable, quote, storedFieldsOf } from './schema/tables.ts'
import { createLists, type GivenList, type ListedPage, readList } from './store/lists.ts'
import { type Checking, createStatements, type Failure, type Writer, type Writing } from './store/statements.ts'
import { readUsers } from './store/users.ts'
import {
  compileBodies,
  computeValue,
  defaultOf,
  fromStoredValue,
  isMarker,
  itemsOf,
  type ReadBody,
  toStoredValue,
  wrong,
} from './store/values.ts'

export interface ReadRow {
  row: Row
  version: number
  etag: string
}

export interface Hooks {
  beforeWrite?(write: {
    before: Row | undefined
    after: Readonly<Record<string, unknown>>
    me: Actor['principal']
    services: unknown
    config: unknown
  }): unknown
  alongside?(write: {
    before: Row | undefined
    after: Row | undefined
    services: unknown
    config: unknown
  }): readonly Statement[]
}

export interface CollectionServiceDeps {
  collection: Described
  hooks: Hooks
  services: unknown
  infrastructure: Pick<Infrastructure, 'db' | 'clock' | 'random' | 'changes' | 'config'>
  registry: Registry
}

/** The collections of a service, which refer to each other. */
export type Registry = Map<Described, CollectionService>

/** The ETag that a client expects, by If-Match. */
export type Expectation = ((etag: string) => boolean) | undefined

/** A write as a batch has it. */
export interface BatchedWrite {
  action: 'create' | 'update' | 'delete' | 'restore'
  id?: number | undefined
  body?: unknown
  isExpected?: Expectation
}

/** Rows by id, as earlier writes of the batch will leave them. */
export type KnownRows = Map<number, Record<string, unknown>>

export interface PreparedWrite {
  statements: readonly Statement[]
  /** The index of the one that returns the row. Without a row, the write is rejected. */
  at: number
  /** Tells why, if it is run in its place. */
  check: Statement | undefined
  explain(row: Readonly<Record<string, unknown>> | undefined): Promise<AppError | undefined>
  /** The error if another of its statements decides against it. */
  otherwise(): AppError
  /** Finds which unique values are taken. */
  taken: readonly Statement[]
  explainTaken(rows: readonly (readonly object[])[]): AppError
  /** The row as it was written; undefined for a deletion. */
  respond(row: Readonly<Record<string, unknown>>): Row | undefined
}

/** In place of a write that the rules allow nobody. */
const nothing: Statement = { sql: 'SELECT 1 AS one WHERE FALSE' }

const keyTtlSeconds = 24 * 3600
const maxKeyLength = 255
const maxTries = 3
/** Of a tree of rows that refer to each other; deeper ones cannot be deleted at once. */
const maxDepth = 10
const maxVersions = 100
const maxHistoryBytes = 512 * 1024

export type CollectionService = ReturnType<typeof createCollectionService>

export function createCollectionService({
  collection,
  hooks,
  services,
  infrastructure,
  registry,
}: CollectionServiceDeps) {
  const { db, clock, random, changes, config } = infrastructure
  const statements = createStatements(collection, db.dialect)
  const lists = createLists({ db, collection, statements })
  const bodies = compileBodies(collection, { hasHook: hooks.beforeWrite !== undefined })
  const stored = storedFieldsOf(collection)
  const computedStored = stored.filter(({ kind }) => kind === 'computed')
  const shown = shownFieldsOf(collection)
  const needsRow = computedStored.length > 0 || hooks.beforeWrite !== undefined || hooks.alongside !== undefined
  const name = `${(collection.singular[0] as string).toUpperCase()}${collection.singular.slice(1).replaceAll('-', ' ')}`
  const errors = {
    notFound: httpErrors.notFound,
    changed: () => new AppError(412, `${name} has changed`),
    referred: () => new AppError(409, 'Is still referred to'),
    conflict: () => new AppError(409, 'Conflict'),
    forbidden: (action: Action) => forbiddenBy(collection.rules?.[action]),
  }

  /** From a stored row, or one of the log, which is stored likewise. */
  function toRow(found: Readonly<Record<string, unknown>>, { principal }: Actor): Row {
    const row: Record<string, unknown> = { id: found.id }
    for (const field of shown) {
      if (!isReadable(field, found, principal)) continue
      const { name, definition } = field
      const value = isStored(field) ? found[name] : computeValue(definition, wholeRow(found))
      row[name] = fromStoredValue(definition, value)
    }
    return row as Row
  }

  function isReadable(
    { name, definition }: DescribedField,
    found: Readonly<Record<string, unknown>>,
    principal: Actor['principal'],
  ): boolean {
    const { readable } = definition.options
    if (!readable || !principal) return true
    const decided = decideRule(readable, principal)
    return decided ?? Boolean(found[`${name}__readable`])
  }

  /** With every stored field, whoever may read them. */
  function wholeRow(found: Readonly<Record<string, unknown>>): Row {
    return Object.fromEntries(
      stored.map(({ name, definition }) => [name, fromStoredValue(definition, found[name])]),
    ) as Row
  }

  function toRead(found: Readonly<Record<string, unknown>>, actor: Actor): ReadRow {
    const version = found.version as number
    return { row: toRow(found, actor), version, etag: etagOf(version, String(found.updated_at)) }
  }

  /** Whether a row may be read depends on it, so one that was written is read again. */
  const hasRowRules = shown.some(({ definition }) => {
    const { readable } = definition.options
    return readable !== undefined && !['can', 'role', 'signedIn', 'never', 'everybody'].includes(readable.kind)
  })

  async function afterWrite(found: Readonly<Record<string, unknown>>, actor: Actor): Promise<ReadRow> {
    changes.wake()
    if (!hasRowRules || !actor.principal) return toRead(found, actor)
    const again = await find(found.id as number, actor)
    return toRead(again ?? found, actor)
  }

  async function find(id: number | undefined, { principal }: Actor): Promise<Record<string, unknown> | undefined> {
    const statement = id === undefined ? undefined : statements.find(id, principal)
    return statement && db.get(statement.sql, statement.params as Value[])
  }

  async function require(id: number | undefined, actor: Actor): Promise<Record<string, unknown> & { id: number }> {
    const found = await find(id, actor)
    if (!found) throw errors.notFound()
    return found as Record<string, unknown> & { id: number }
  }

  const writerOf = ({ principal, via }: Actor): Writer => ({ principal, via, now: clock.nowIso() })

  /** Throws 403 for what no row could allow: before the body is read. */
  function requireDecided(action: Action, { principal }: Actor): void {
    const rule = collection.rules?.[action]
    if (!principal || !rule || decideRule(rule, principal) !== false) return
    throw principal.id === undefined && action !== 'read' ? httpErrors.missingToken() : errors.forbidden(action)
  }

  /** Fields that the client sets to something else than their default, although their rules may not allow it. */
  function guardedOf({ given, values }: ReadBody, isNew: boolean, actor: Actor, now: string): string[] {
    return given.filter((name) => {
      const field = collection.fields.get(name) as DescribedField
      if (!field.definition.options.writable) return false
      return !isNew || values[name] !== defaultOf(field, { userId: actor.userId, now })
    })
  }

  /** Adds what the hook makes of a row. */
  async function applyHook(
    writing: Writing,
    before: Record<string, unknown> | undefined,
    actor: Actor,
    now: string,
  ): Promise<Writing> {
    if (!hooks.beforeWrite) return writing
    const changed = ((await hooks.beforeWrite({
      before: before && wholeRow(before),
      after: afterOf(before, writing, now),
      me: actor.principal,
      services,
      config,
    })) ?? {}) as Record<string, unknown>
    const added = Object.entries(changed).flatMap(([name, value]): [string, Value][] => {
      const field = collection.fields.get(name)
      if (!field || !isStored(field) || isOwnField(name)) return []
      return [[name, toStoredValue(field.definition, value)]]
    })
    return {
      ...writing,
      values: { ...writing.values, ...Object.fromEntries(added) },
      related: [...new Set([...(writing.related ?? []), ...added.map(([name]) => name)])],
    }
  }

  function requireComplete({ values }: Writing): void {
    const missing = bodies.missingOf(values)
    if (missing.length > 0) throw validationFailed(Object.fromEntries(missing.map((name) => [name, [wrong.blank]])))
  }

  /** Adds what is computed of a row and stored. */
  function compute(writing: Writing, before: Record<string, unknown> | undefined, now: string): Writing {
    if (computedStored.length === 0) return writing
    const whole = afterOf(before, writing, now)
    const computed = computedStored.map(({ name, definition }) => [name, computeValue(definition, whole)])
    return { ...writing, values: { ...writing.values, ...Object.fromEntries(computed) } }
  }

  function afterOf(before: Record<string, unknown> | undefined, { values }: Writing, now: string): Row {
    return wholeRow({ created_at: now, ...before, ...values, updated_at: now })
  }

  /** Throws the first thing that a write would fail for. Returns the version of the row as it is. */
  async function requireChecks(
    checking: Checking | undefined,
    action: Action,
    { writing, actor, isEarly = false }: { writing: Writing; actor: Actor; isEarly?: boolean },
  ): Promise<number | undefined> {
    const row =
      checking && (await db.get<Record<string, unknown>>(checking.statement.sql, checking.statement.params as Value[]))
    if (!row) throw errors.notFound()
    // What is checked of the whole row, a hook may still change.
    const failures = checking.failuresOf(row).filter(({ kind }) => !isEarly || kind !== 'check')
    if (failures.length > 0) throw await refuse(failures, action, { writing, actor })
    return row.version as number | undefined
  }

  async function refuse(
    failures: readonly Failure[],
    action: Action,
    { writing, actor }: { writing: Writing; actor: Actor },
  ): Promise<AppError> {
    const [{ kind, field = '' }] = failures as [Failure]
    if (kind === 'rule') return errors.forbidden(action)
    if (kind === 'check') {
      const { rule, message } = collection.check as NonNullable<Described['check']>
      return validationFailed({ [firstFieldOf(rule) ?? 'check']: [message] })
    }
    if (kind === 'unwritable') {
      const { writable } = (collection.fields.get(field) as DescribedField).definition.options
      return forbiddenBy(writable?.kind === 'onCreate' ? undefined : writable)
    }
    const missing = failures.flatMap((each) => (each.kind === 'missing' ? (each.field ?? []) : []))
    const paths = await Promise.all(missing.map((name) => missingOf(name, writing, actor)))
    return validationFailed(Object.fromEntries(paths.flat().map((path) => [path, [wrong.missing]])))
  }

  /** The relation, or the items of a list of them that refer to nothing. */
  async function missingOf(name: string, { values }: Writing, { principal }: Actor): Promise<string[]> {
    const field = collection.fields.get(name) as DescribedField
    if (field.kind !== 'list') return [name]
    const ids = itemsOf(values[name])
    const stored = ids.filter((id) => typeof id === 'number')
    const { sql, params } = statements.findRelated(field, stored, { principal })
    const known = new Set((await db.all<{ id: number }>(sql, params as Value[])).map(({ id }) => id))
    const items = ids.flatMap((id, i) => (typeof id !== 'number' || known.has(id) ? [] : [`${name}.${i}`]))
    return items.length > 0 ? items : [name]
  }

  /** Throws which unique fields are taken, by live rows other than this one. By now, there may be none. */
  async function refuseTaken(row: Readonly<Record<string, unknown>>, id: number | null): Promise<void> {
    const details: Record<string, string[]> = {}
    for (const [name, statement] of uniqueFieldsOf(row as Writing['values'])) {
      const { sql, params } = statement(id)
      if (await db.get(sql, params as Value[])) details[name] = ['Is already taken']
    }
    if (Object.keys(details).length > 0) throw validationFailed(details)
  }

  /** Runs a batch. Undefined if a deciding statement decided against it. */
  async function run(batch: readonly Statement[], at: number): Promise<Record<string, unknown> | undefined> {
    const rows = await db.write<Record<string, unknown>>(...batch)
    return rows[at]?.[0]
  }

  function alongsideOf(before: Row | undefined, after: Row | undefined): readonly Statement[] {
    return hooks.alongside?.({ before, after, services, config }) ?? []
  }

  function readNew(body: unknown, actor: Actor) {
    requireDecided('create', actor)
    const writer = writerOf(actor)
    const problems = new Problems()
    const read = bodies.readNew(body, { userId: actor.userId, now: writer.now }, problems)
    if (problems.details) throw validationFailed(problems.details)
    const writing: Writing = {
      values: read.values,
      related: read.given,
      guarded: guardedOf(read, true, actor, writer.now),
    }
    return { read, writer, writing }
  }

  /** Throws what `create` would, and writes nothing. */
  async function checkNew(body: unknown, actor: Actor): Promise<void> {
    const { writer, writing } = readNew(body, actor)
    const whole = compute(await applyHook(writing, undefined, actor, writer.now), undefined, writer.now)
    await requireChecks(statements.checkInsert(whole, writer), 'create', { writing: whole, actor })
    await refuseTaken(whole.values, null)
  }

  async function create(body: unknown, actor: Actor, key?: string): Promise<ReadRow> {
    const { read, writer, writing } = readNew(body, actor)
    const once = key === undefined || actor === anonymous ? undefined : onceOf(requireKeyLength(key), read, actor)
    const made = once && (await findMade(once))
    if (made) return readMade(made, actor)
    for (let tries = 0; ; tries++) {
      if (hooks.beforeWrite) {
        const early = bodies.missingOf(writing.values).length > 0 ? writing : compute(writing, undefined, writer.now)
        await requireChecks(statements.checkInsert(early, writer), 'create', { writing: early, actor, isEarly: true })
      }
      const hooked = await applyHook(writing, undefined, actor, writer.now)
      requireComplete(hooked)
      const whole = compute(hooked, undefined, writer.now)
      const insertion = statements.insert(whole, writer)
      if (insertion) {
        const locks = statements.lockRelated(whole)
        const at = locks.length + (once ? 1 : 0)
        const id = rowOf(at, 'id') as unknown as number
        const batch = [
          ...(once ? [claim(once, whole.values, writer.now)] : []),
          ...locks,
          { ...insertion, decides: true },
          ...alongsideOf(undefined, { ...afterOf(undefined, whole, writer.now), id }),
          ...(once
            ? [{ sql: `UPDATE ${keyTable} SET row_id = $1 WHERE id = $2`, params: [rowOf(at, 'id'), once.id] }]
            : []),
        ]
        try {
          const [only] = batch
          const found = await run(batch.length === 1 ? [{ ...(only as Statement), decides: false }] : batch, at)
          if (found) return await afterWrite(found, actor)
        } catch (error) {
          if (!(error instanceof ConstraintError)) throw error
          if (error.kind === 'unique') await refuseTaken(whole.values, null)
          else if (error.kind !== 'foreign_key') throw error
        }
        const again = once && (await findMade(once))
        if (again) return readMade(again, actor)
      }
      await requireChecks(statements.checkInsert(whole, writer), 'create', { writing: whole, actor })
      if (tries >= maxTries) throw errors.conflict()
    }
  }

  /** Whether its fields may be read is decided by the row as it is now, deleted or not. */
  async function readMade(made: Record<string, unknown>, actor: Actor): Promise<ReadRow> {
    const params = new Params()
    const flags = statements.readableFlags(actor.principal, params)
    if (flags === '') return toRead(made, actor)
    const sql = `SELECT target.id${flags} FROM ${quote(collection.table)} AS target WHERE target.id = ${params.add(made.id as number)}`
    return toRead({ ...(await db.get(sql, params.values)), ...made }, actor)
  }

  interface Once {
    id: string
    bodyHash: string
  }

  /** Keys of new rows, and those of the changes of each row, are apart. */
  function onceOf(key: string, { values, given }: ReadBody, { userId }: Actor, rowId?: number): Once {
    const of = rowId === undefined ? collection.name : `${collection.name}/${rowId}`
    const id = hash('sha256', `${of} ${userId ?? 'system'} ${key}`, 'hex')
    // The time of the request is not what the client sent.
    const sent = Object.entries(values).filter(
      ([field]) => given.includes(field) || !isDefaultNow(collection.fields.get(field)),
    )
    return { id, bodyHash: hash('sha256', JSON.stringify(sent), 'hex') }
  }

  function claim({ id, bodyHash }: Once, values: Writing['values'], now: string): Statement {
    return {
      sql: `INSERT INTO ${keyTable} (id, body_hash, "values", created_at, expires_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (id) DO UPDATE SET body_hash = excluded.body_hash, "values" = excluded."values",
          created_at = excluded.created_at, expires_at = excluded.expires_at, row_id = NULL
        WHERE ${keyTable}.expires_at <= $6 RETURNING id`,
      params: [id, bodyHash, JSON.stringify(values), now, clock.nowSeconds() + keyTtlSeconds, clock.nowSeconds()],
      decides: true,
    }
  }

  /** The first answer again, even if the row has changed since. Throws 422 if the key came with another body. */
  async function findMade({ id, bodyHash }: Once): Promise<Record<string, unknown> | undefined> {
    const found = await db.get<{ body_hash: string; row_id: number; values: string; created_at: string }>(
      `SELECT body_hash, row_id, "values", created_at FROM ${keyTable} WHERE id = $1 AND expires_at > $2`,
      [id, clock.nowSeconds()],
    )
    if (!found) return undefined
    if (found.body_hash !== bodyHash) throw validationFailed({ idempotency_key: ['Was used with another body'] })
    const { row_id, created_at } = found
    return { ...JSON.parse(found.values), id: row_id, version: 1, created_at, updated_at: created_at }
  }

  interface Change {
    id: number
    read: ReadBody
    isExpected: Expectation
    once?: Once
  }

  async function update(
    id: number | undefined,
    body: unknown,
    actor: Actor,
    isExpected?: Expectation,
    key?: string,
  ): Promise<ReadRow> {
    const problems = new Problems()
    const read = bodies.readChange(body, problems)
    requireDecided('read', actor)
    if (problems.details || id === undefined) {
      await require(id, actor)
      requireDecided('update', actor)
      throw validationFailed(problems.details ?? {})
    }
    if (key === undefined || actor === anonymous) return change({ id, read, isExpected }, actor)
    const once = onceOf(requireKeyLength(key), read, actor, id)
    try {
      return await change({ id, read, isExpected, once }, actor)
    } catch (error) {
      // The same request may have changed the row after this one had looked for its key.
      if (!(error instanceof AppError) || !(await findMade(once))) throw error
      return toRead(await require(id, actor), actor)
    }
  }

  async function change({ id, read, isExpected, once }: Change, actor: Actor): Promise<ReadRow> {
    for (let tries = 0; ; tries++) {
      // As the row is by now.
      if (once && (await findMade(once))) return toRead(await require(id, actor), actor)
      const writer = writerOf(actor)
      const writing: Writing = {
        values: read.values,
        related: read.given,
        guarded: guardedOf(read, false, actor, writer.now),
      }
      const isEmpty = read.given.length === 0
      const before = needsRow || isExpected || isEmpty ? await require(id, actor) : undefined
      const isOther = before !== undefined && isExpected?.(toRead(before, actor).etag) === false
      if (hooks.beforeWrite || isOther || isEmpty) {
        const early = compute(writing, before, writer.now)
        const isEarly = hooks.beforeWrite !== undefined
        await requireChecks(statements.checkUpdate(id, early, writer), 'update', { writing: early, actor, isEarly })
      }
      if (isOther) throw errors.changed()
      if (before && isEmpty) return toRead(before, actor)
      const whole = compute(await applyHook(writing, before, actor, writer.now), before, writer.now)
      const version = before ? (before.version as number) : null
      const statement = statements.update({ id, version }, whole, writer)
      if (statement) {
        const locks = statements.lockRelated(whole)
        const along = alongsideOf(before && wholeRow(before), afterOf(before, whole, writer.now))
        try {
          const first = [...(once ? [claim(once, {}, writer.now)] : []), ...locks]
          const batch = [...first, { ...statement, decides: along.length > 0 || once !== undefined }, ...along]
          const found = await run(batch, first.length)
          if (found) return await afterWrite(found, actor)
        } catch (error) {
          if (!(error instanceof ConstraintError)) throw error
          if (error.kind === 'unique') await refuseTaken({ ...(await find(id, system)), ...whole.values }, id)
          else if (error.kind !== 'foreign_key') throw error
        }
      }
      await requireChecks(statements.checkUpdate(id, whole, writer), 'update', { writing: whole, actor })
      if (tries >= maxTries) throw errors.conflict()
    }
  }

  /** This one and those whose rows are deleted with its own, with the fields that refer to each. */
  function findReferences(): { parent: Described; field: DescribedField; service: CollectionService }[] {
    return [...new Set([collection, ...cascadeTargets(collection)])].flatMap((parent) =>
      [...registry].flatMap(([other, service]) =>
        referencesTo(parent, other).map((field) => ({ parent, field, service })),
      ),
    )
  }

  /** Repeats statements for each step that rows which refer to each other can be away from this one, `most` in a circle. */
  function follow(statements: readonly Statement[], most: number): Statement[] {
    const targets = [...cascadeTargets(collection)]
    const isCircular = targets.some((each) => cascadeTargets(each).has(each))
    return Array.from({ length: isCircular ? most : targets.length }, () => statements).flat()
  }

  /** What happens to the rows that refer to deleted ones: statements of the same batch. */
  function cascade(mark: string, writer: Writer): Statement[] {
    const { deletions, others } = cascadeParts(mark, writer)
    return [...deletions, ...others]
  }

  function cascadeParts(mark: string, writer: Writer): Record<'deletions' | 'others', Statement[]> {
    const references = findReferences()
    const isDeleted = ({ field }: (typeof references)[number]) => field.definition.options.onDelete === 'delete'
    const deletions = follow(
      references
        .filter(isDeleted)
        .map(({ parent, field, service }) => service.statements.deleteReferring(field.name, parent, mark, writer)),
      maxDepth,
    )
    const others = references.map(({ parent, field, service: { statements } }) =>
      field.definition.options.onDelete === 'clear'
        ? statements.clearReferring(field.name, parent, mark, writer)
        : statements.requireUnreferred(field.name, parent, mark),
    )
    return { deletions, others }
  }

  /** See user-removal.ts. Undefined if no rows are deleted with users, or nothing refers to them. */
  function deleteOfUser(
    userId: number,
    mark: string,
  ): Record<'rows' | 'deletions' | 'others', Statement[]> | undefined {
    const fields = referencesTo(describedUsers, collection).filter(
      ({ definition }) => definition.options.onDelete === 'delete',
    )
    if (fields.length === 0 || !hasReferrers(collection)) return undefined
    const writer = writerOf(system)
    const { deletions, others } = cascadeParts(mark, writer)
    return {
      rows: fields.map(({ name }) => statements.deleteOfUser(name, userId, mark, writer)),
      deletions,
      others: [...others, ...removals(mark)],
    }
  }

  /** The rows that were deleted with this one, as far as what they refer to is there again. */
  function restoring(id: number, writer: Writer): Statement[] {
    const services = [...cascadeTargets(collection)].map((each) => registry.get(each) as CollectionService)
    const restored = services.map(({ statements }) => statements.restoreWith(collection, id, writer))
    return [
      ...services.flatMap(({ statements }) => statements.lockParents(collection, id)),
      // In another order than they were deleted, each time may be one step only.
      ...follow(restored, maxDepth * services.length),
    ]
  }

  /** Collections whose rows are deleted with those of this one. */
  function cascadeTargets(parent: Described, found = new Set<Described>()): ReadonlySet<Described> {
    for (const other of registry.keys()) {
      const isDeletedWith = referencesTo(parent, other).some(
        ({ definition }) => definition.options.onDelete === 'delete',
      )
      if (isDeletedWith && !found.has(other)) {
        found.add(other)
        cascadeTargets(other, found)
      }
    }
    return found
  }

  async function remove(id: number | undefined, actor: Actor, isExpected?: Expectation): Promise<void> {
    if (id === undefined) throw errors.notFound()
    for (let tries = 0; ; tries++) {
      const writer = writerOf(actor)
      const before = isExpected || hooks.alongside ? await require(id, actor) : undefined
      const isOther = before && isExpected && !isExpected(toRead(before, actor).etag)
      const version = before ? (before.version as number) : null
      const mark = `${collection.name}:${id}:${random.id()}`
      const statement = isOther ? undefined : statements.softDelete({ id, version }, writer, mark)
      if (statement) {
        const batch = [
          { ...statement, decides: true },
          ...cascade(mark, writer),
          ...alongsideOf(before && wholeRow(before), undefined),
          ...removals(mark),
        ]
        if (await run(batch, 0)) {
          changes.wake()
          return
        }
      }
      const found = await requireChecks(statements.checkDelete(id, writer), 'delete', {
        writing: { values: {} },
        actor,
      })
      if (isOther) throw errors.changed()
      if ((version === null || version === found) && hasReferrers(collection)) throw errors.referred()
      if (tries >= maxTries) throw errors.conflict()
    }
  }

  /** Of the rows of collections that do not keep what is deleted. */
  function removals(mark: string): Statement[] {
    return [...new Set([collection, ...cascadeTargets(collection)])].flatMap((each) =>
      each.keptMs === undefined ? [(registry.get(each) as CollectionService).statements.remove(mark)] : [],
    )
  }

  function hasReferrers(parent: Described): boolean {
    return [...registry.keys()].some((other) => referencesTo(parent, other).length > 0)
  }

  /** Deleted or not, whoever may read it. */
  async function findAny(id: number): Promise<Record<string, unknown> | undefined> {
    return db.get(`SELECT ${statements.returned} FROM ${quote(collection.table)} WHERE id = $1`, [id])
  }

  /** Idempotent. */
  async function restore(id: number | undefined, actor: Actor): Promise<ReadRow> {
    if (id === undefined) throw errors.notFound()
    const writer = writerOf(actor)
    const since = new Date(clock.now() - (collection.keptMs ?? 0)).toISOString()
    const stored = hooks.alongside && (await findAny(id))
    const statement = statements.restore(id, since, writer, stored ? (stored.version as number) : null)
    try {
      const locks = statements.lockParents(collection, id)
      const batch = statement && [
        ...locks,
        { ...statement, decides: true },
        ...restoring(id, writer),
        ...alongsideOf(undefined, stored && wholeRow(stored)),
      ]
      const found = batch && (await run(batch, locks.length))
      if (found) return await afterWrite(found, actor)
    } catch (error) {
      if (!(error instanceof ConstraintError) || error.kind !== 'unique') throw error
      await refuseTaken((await findAny(id)) ?? {}, id)
    }
    const live = await find(id, actor)
    if (live) {
      await requireChecks(statements.checkDelete(id, writer), 'delete', { writing: { values: {} }, actor })
      return toRead(live, actor)
    }
    const { sql, params, missingOf } = statements.checkRestore(id, since, writer)
    const row = sql === undefined ? undefined : await db.get<Record<string, unknown>>(sql, params)
    if (!row) throw errors.notFound()
    if (!row.allowed) throw errors.forbidden('delete')
    const missing = missingOf(row)
    if (missing.length > 0) throw validationFailed(Object.fromEntries(missing.map((field) => [field, [wrong.missing]])))
    throw errors.conflict()
  }

  /** One write of a batch. It is not yet done, and neither are those before it. */
  async function prepare(
    { action, id, body, isExpected }: BatchedWrite,
    { actor, offset, known }: { actor: Actor; offset: number; known: KnownRows },
  ): Promise<PreparedWrite> {
    const writer = writerOf(actor)
    const ofDecision = action === 'restore' ? 'delete' : action
    if (action !== 'create') requireDecided('read', actor)
    requireDecided(ofDecision, actor)
    const before = action === 'create' ? undefined : await findBefore()
    const version = before ? (before.version as number) : null
    if (before && isExpected?.(toRead(before, actor).etag) === false) {
      const checking =
        action === 'update'
          ? statements.checkUpdate(id as number, { values: {} }, writer)
          : statements.checkDelete(id as number, writer)
      await requireChecks(checking, ofDecision, { writing: { values: {} }, actor })
      throw errors.changed()
    }

    async function findBefore() {
      if (id === undefined) throw errors.notFound()
      const found = known.get(id)
      return found ?? (needsRow || isExpected ? await require(id, actor) : undefined)
    }

    /** `main` is the statement that returns the row; those around it are of the same write. */
    function prepared(
      main: Statement | undefined,
      { before: first = [], after: rest = [] }: { before?: readonly Statement[]; after?: readonly Statement[] },
      { checking, writing = { values: {} } }: { checking: Checking | undefined; writing?: Writing },
    ): PreparedWrite {
      return {
        statements: [...first, { ...(main ?? nothing), decides: true }, ...rest],
        at: first.length,
        check: checking?.statement,
        async explain(row) {
          if (!row) return errors.notFound()
          const failures = checking?.failuresOf(row) ?? []
          if (failures.length > 0) return refuse(failures, ofDecision, { writing, actor })
          return version !== null && row.version !== version ? errors.changed() : undefined
        },
        otherwise: () => (action === 'delete' ? errors.referred() : errors.conflict()),
        taken: uniqueFieldsOf(writing.values).map(([, statement]) => statement(id ?? null)),
        explainTaken: (rows) => {
          const fields = uniqueFieldsOf(writing.values).flatMap(([field], i) =>
            rows[i]?.length ? [[field, ['Is already taken']]] : [],
          )
          return fields.length > 0 ? validationFailed(Object.fromEntries(fields)) : errors.conflict()
        },
        respond: (row) => (action === 'delete' ? undefined : toRead(row, actor).row),
      }
    }

    if (action === 'delete') {
      const mark = `${collection.name}:${id}:${random.id()}`
      known.delete(id as number)
      const rest = [...cascade(mark, writer), ...alongsideOf(before && wholeRow(before), undefined), ...removals(mark)]
      return prepared(
        statements.softDelete({ id: id as number, version }, writer, mark),
        { after: rest },
        { checking: statements.checkDelete(id as number, writer) },
      )
    }
    if (action === 'restore') {
      const since = new Date(clock.now() - (collection.keptMs ?? 0)).toISOString()
      const main = statements.restore(id as number, since, writer)
      const locks = statements.lockParents(collection, id as number)
      return prepared(main, { before: locks, after: restoring(id as number, writer) }, { checking: undefined })
    }
    const problems = new Problems()
    const isNew = action === 'create'
    const read = isNew
      ? bodies.readNew(body, { userId: actor.userId, now: writer.now }, problems)
      : bodies.readChange(body, problems)
    if (problems.details) {
      if (!isNew) await require(id, actor)
      throw validationFailed(problems.details)
    }
    const given: Writing = {
      values: read.values,
      related: read.given,
      guarded: guardedOf(read, isNew, actor, writer.now),
    }
    const hooked = await applyHook(given, before, actor, writer.now)
    if (isNew) requireComplete(hooked)
    const writing = compute(hooked, before, writer.now)
    const locks = statements.lockRelated(writing)
    const after = afterOf(before, writing, writer.now)
    const newId = rowOf(offset + locks.length, 'id') as unknown as number
    const along = alongsideOf(before && wholeRow(before), isNew ? { ...after, id: newId } : after)
    if (before) known.set(id as number, { ...before, ...writing.values, version: (version as number) + 1 })
    const around = { before: locks, after: along }
    return isNew
      ? prepared(statements.insert(writing, writer), around, {
          checking: statements.checkInsert(writing, writer),
          writing,
        })
      : prepared(statements.update({ id: id as number, version }, writing, writer), around, {
          checking: statements.checkUpdate(id as number, writing, writer),
          writing,
        })
  }

  function uniqueFieldsOf(values: Writing['values']): [field: string, statement: (id: number | null) => Statement][] {
    return stored.flatMap(({ name, definition }): [string, (id: number | null) => Statement][] => {
      const { unique, uniqueWithin } = definition.options
      if ((!unique && uniqueWithin === undefined) || values[name] === null || values[name] === undefined) return []
      const columns = [name, ...(uniqueWithin === undefined ? [] : [uniqueWithin])]
      const same = columns.map((column, i) => `${quote(column)} = $${i + 2}`).join(' AND ')
      const sql = `SELECT 1 AS one FROM ${quote(collection.table)} WHERE deleted_at IS NULL AND id <> $1 AND ${same}`
      return [[name, (id) => ({ sql, params: [id ?? 0, ...columns.map((column) => values[column] as Value)] })]]
    })
  }

  interface VersionEntry {
    version: number
    type: string
    at: string
    actor: { id: number; name: string } | null
    changes: Record<string, [unknown, unknown]>
  }

  /** Newest first, of a row that the actor may read. */
  async function versions(id: number | undefined, given: Actor): Promise<VersionEntry[]> {
    const actor = readerOf(given, collection)
    const current = await require(id, actor)
    const query = { topic: collection.name, entityId: current.id, limit: maxVersions, maxBytes: maxHistoryBytes }
    const { entries, previous } = await changes.store.readHistory(query)
    const ids = [...new Set(entries.flatMap(({ actor_id }) => actor_id ?? []))]
    const names = await readUsers(db, ids, actor)
    const rows = [...entries, ...(previous ? [previous] : [])].map(
      ({ data }) => JSON.parse(data) as Record<string, unknown>,
    )
    const readable = shown.filter(
      (field) => isStored(field) && !isOwnField(field.name) && isReadable(field, current, actor.principal),
    )
    const isVisible = await Promise.all(rows.map((row) => wasVisible(row as StoredRow, actor)))
    return entries.flatMap(({ type, at, actor_id }, i): VersionEntry[] => {
      if (!isVisible[i]) return []
      const isKnown = !type.endsWith('.deleted') && isVisible[i + 1] !== false
      return [
        {
          version: versionOf(type, entries[i] as ChangeRow),
          type,
          at,
          actor: actor_id === null ? null : { id: actor_id, name: names.get(actor_id)?.name ?? '' },
          changes: isKnown ? difference(readable, rows[i] as Record<string, unknown>, rows[i + 1]) : {},
        },
      ]
    })
  }

  /** Whether the actor may see a row as it was, by what it refers to as that is now, or last was. */
  async function wasVisible(row: StoredRow, { principal }: Actor): Promise<boolean> {
    const rule = collection.rules?.read
    if (!principal || !rule) return true
    const decided = decideRule(rule, principal)
    if (decided !== undefined) return decided
    const judge = createRelatedRows({ db, changes, keepsDeleted: true })
    return judge((findRelated) => isAllowed(rule, collection, principal, { row, after: row, findRelated }))
  }

  return {
    collection,
    errors,
    statements,
    lists,
    requireDecided,
    toRow,
    toRead,
    create,
    checkNew,
    update,
    delete: remove,
    restore,
    versions,
    prepare,
    deleteOfUser,

    /** Throws 404 for a row that the actor may not read. */
    async get(id: number | undefined, given: Actor): Promise<ReadRow> {
      const actor = readerOf(given, collection)
      return toRead(await require(id, actor), actor)
    },

    /** A deleted row that the actor may restore. */
    async findDeleted(id: number | undefined, actor: Actor): Promise<Row | undefined> {
      if (id === undefined) return undefined
      const since = new Date(clock.now() - (collection.keptMs ?? 0)).toISOString()
      const { sql, params } = statements.checkRestore(id, since, writerOf(actor))
      const row = sql === undefined ? undefined : await db.get<Record<string, unknown>>(sql, params)
      const found = row?.allowed ? await findAny(id) : undefined
      return found && toRow(found, actor)
    },

    /** Throws 422 for what the list does not support, and 403 for fields that the actor may not read. */
    async list(
      given: GivenList,
      asking: Actor,
    ): Promise<
      Omit<ListedPage, 'rows'> & { rows: ReadRow[]; sort: { field: string; isDescending: boolean }; limit: number }
    > {
      const request = readList(given, collection)
      const actor = readerOf(asking, collection)
      const { principal } = actor
      const used = [
        request.sort.field,
        ...request.filters.map(({ field }) => field.name),
        ...(request.q === undefined ? [] : collection.lists.search),
      ]
      for (const field of used) {
        const { readable } = (collection.fields.get(field) as DescribedField).definition.options
        const decided = readable && principal ? decideRule(readable, principal) : true
        const isFilterOnly =
          field !== request.sort.field && !(request.q !== undefined && collection.lists.search.includes(field))
        if (decided === false || (decided === undefined && !isFilterOnly)) throw forbiddenBy(readable)
      }
      const page = await lists.page(request, principal)
      return { ...page, rows: page.rows.map((row) => toRead(row, actor)), sort: request.sort, limit: request.limit }
    },

    /** Removes rows whose deletion can no longer be undone, some at a time. Returns how many. */
    async purge(most: number): Promise<number> {
      if (collection.keptMs === undefined) return 0
      const before = new Date(clock.now() - collection.keptMs).toISOString()
      const [rows] = await db.write(statements.purge(before, most))
      return rows.length
    },
  }
}

export function etagOf(version: number, updatedAt: string): string {
  return `"${version}-${updatedAt}"`
}

/** The condition of an If-Match header, also without quotes. The tag of a selection names the version it was made from. */
export function expectEtag(given: string): NonNullable<Expectation> {
  const header = given.includes('"') || given.trim() === '*' ? given : `"${given.trim()}"`
  return matchEtags(header, (etag) => (etag.includes(';') ? `${etag.slice(0, etag.indexOf(';'))}"` : etag))
}

/** A deleted row is logged as it last was. */
export function versionOf(type: string, { data }: Pick<ChangeRow, 'data'>): number {
  const version = Number((JSON.parse(data) as { version: number }).version)
  return type.endsWith('.deleted') ? version + 1 : version
}

function requireKeyLength(key: string): string {
  if (key.length <= maxKeyLength) return key
  throw validationFailed({ idempotency_key: [`Must be at most ${maxKeyLength} characters`] })
}

function isDefaultNow(field: DescribedField | undefined): boolean {
  return isMarker(field?.definition.options.default, 'now')
}

/** The fields that clients get, in their order: those of the declaration, then the times. */
export function shownFieldsOf({ fields }: Described): DescribedField[] {
  const all = [...fields.values()].filter(({ kind, name }) => kind !== 'hasMany' && name !== 'id')
  return [...all.filter(({ name }) => !isOwnField(name)), ...all.filter(({ name }) => isOwnField(name))]
}

/** The fields of `other` that refer to rows of a collection. */
export function referencesTo(target: Described, other: Described): DescribedField[] {
  return [...other.fields.values()].filter((field) => field.kind === 'belongsTo' && field.target === target)
}

function difference(
  fields: readonly DescribedField[],
  row: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>> | undefined,
): Record<string, [unknown, unknown]> {
  const changes: Record<string, [unknown, unknown]> = {}
  for (const { name, definition } of fields) {
    const [from, to] = [before?.[name], row[name]].map((value) => fromStoredValue(definition, value))
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[name] = [from, to]
  }
  return changes
}

/** 403, and for those who accept problem details the rule that was not met. */
function forbiddenBy(rule: Rule | undefined): AppError {
  return new AppError(403, 'Forbidden', { problem: { rule: describeRule(rule ?? { kind: 'never' }) } })
}

function firstFieldOf(rule: Rule): string | undefined {
  if ('field' in rule) return (rule.field as FieldPath).names[0]
  if ('rules' in rule) return rule.rules.map(firstFieldOf).find((each) => each !== undefined)
  return rule.kind === 'not' ? firstFieldOf(rule.rule) : undefined
}
