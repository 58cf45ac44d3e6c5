/**
 * What a reader gets of the change log of a collection: entries of rows that they may read. A row that they can no longer see has
 * left; where the whole view may have changed, it is reset. Applied in order, these keep a copy exact.
 *
 * Rules are evaluated with the related rows and the roles of now. Where these have changed since an entry was written, a later
 * entry tells so, and resets the view.
 */
import type { ChangeRow } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { ReaderView, ShownChange } from '../../platform/changes/http/change-stream.ts'
import type { Database } from '../../platform/database/database.ts'
import { type Actor, readerOf } from '../actor.ts'
import { type Described, describedUsers } from '../declare/describe.ts'
import type { Rule } from '../declare/rules.ts'
import { resourceOf } from '../resource.ts'
import { isAllowed, type StoredRow } from '../rules/predicate.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { formerValues } from '../schema/change-log.ts'
import { quote } from '../schema/tables.ts'
import { type CollectionService, versionOf } from '../service.ts'
import { type Dependency, dependenciesOf } from './dependencies.ts'
import { createRelatedRows, type Judge } from './related-rows.ts'

export interface ChangeViewDeps {
  service: CollectionService
  db: Database
  changes: Pick<ChangeLog, 'store'>
}

export type ChangeView = ReturnType<typeof createChangeView>

/** Of the log, at the start after what readers see has changed: see view-changes.ts. */
export const resetType = ({ name }: Described) => `${name}.reset`

export function createChangeView({ service, db, changes }: ChangeViewDeps) {
  const { collection } = service
  const rule = collection.rules?.read as Rule
  const guarded = [...collection.fields.values()].filter(({ definition }) => definition.options.readable)
  const dependencies = [rule, ...guarded.map(({ definition }) => definition.options.readable as Rule)].flatMap((each) =>
    dependenciesOf(collection, each),
  )
  const isSameForAll = rule.kind === 'everybody' && guarded.length === 0
  const topics = new Set(dependencies.map(({ target }) => target.name))
  const dependsOnUsers = topics.has(describedUsers.name)

  interface Reader {
    actor: Actor
    principal: RulePrincipal
    /** With the related rows that there are. */
    judge: Judge
    /** With deleted ones as they last were, for rows that were deleted or cleared together with them. */
    judgePast: Judge
  }

  function createReader(actor: Actor, principal: RulePrincipal): Reader {
    const load = (keepsDeleted: boolean) => createRelatedRows({ db, changes, keepsDeleted })
    return { actor, principal, judge: load(false), judgePast: load(true) }
  }

  const evaluate = (of: { rule: Rule; target: Described }, row: StoredRow, { principal }: Reader, judge: Judge) =>
    judge((findRelated) => isAllowed(of.rule, of.target, principal, { row, after: row, findRelated }))

  const isVisible = (row: StoredRow, reader: Reader, judge: Judge) =>
    evaluate({ rule, target: collection }, row, reader, judge)

  /** Of a row as it was: a related one may have been deleted with it, or before. */
  async function judgeWhoShows(row: StoredRow, reader: Reader): Promise<Judge | undefined> {
    for (const judge of [reader.judge, reader.judgePast]) if (await isVisible(row, reader, judge)) return judge
    return undefined
  }

  /** Whether a change of a related row changes what this reader may see. */
  async function changesView(row: ChangeRow, reader: Reader): Promise<boolean> {
    if (!topics.has(row.topic) || row.type.endsWith('.created')) return false
    const now = JSON.parse(row.data) as StoredRow
    for (const dependency of dependencies.filter(({ target }) => target.name === row.topic)) {
      if (await changesOutcome(dependency, { row, now, reader })) return true
    }
    return false
  }

  async function changesOutcome(
    { target, rule, fields, from, relation }: Dependency,
    { row, now, reader }: { row: ChangeRow; now: StoredRow; reader: Reader },
  ): Promise<boolean> {
    const outcomesOf = (each: StoredRow) =>
      Promise.all(
        [reader.judge, reader.judgePast].map((judge) => !rule || evaluate({ rule, target }, each, reader, judge)),
      )
    const isMet = await outcomesOf(now)
    if (!row.type.endsWith('.updated')) {
      // What refers to it was mostly deleted, cleared or restored with it, and is in the log itself.
      return isMet.includes(true) && (await isReferredTo(row.entity_id as number, from, relation))
    }
    const former = formerOf(now)
    if (!fields.some((name) => Object.hasOwn(former, name))) return false
    // What the reader saw before depends on when the related rows were deleted.
    return !rule || (await outcomesOf({ ...now, ...former })).some((wasMet) => wasMet !== isMet[0])
  }

  async function isReferredTo(id: number, { table }: Described, relation: string): Promise<boolean> {
    const sql = `SELECT 1 AS one FROM ${quote(table)} WHERE ${quote(relation)} = $1 AND deleted_at IS NULL LIMIT 1`
    return (await db.get(sql, [id])) !== undefined
  }

  function isReset({ topic, type, entity_id }: ChangeRow, { userId }: Actor): boolean {
    if (topic === collection.name) return type === resetType(collection)
    if (topic !== 'accounts') return false
    const isOwnRole = type === 'user.roles_changed' && entity_id === userId && userId !== null
    return isOwnRole || (dependsOnUsers && ['user.updated', 'user.deleted'].includes(type))
  }

  async function present(row: ChangeRow, stored: StoredRow, reader: Reader, judge: Judge): Promise<ShownChange> {
    const { type, at, actor_id, actor_via } = row
    const { actor, principal } = reader
    const flags = await judge((findRelated) =>
      guarded.map(({ name, definition: { options } }) => [
        `${name}__readable`,
        isAllowed(options.readable as Rule, collection, principal, { row: stored, after: stored, findRelated }),
      ]),
    )
    return {
      id: row.id,
      change: {
        type,
        at,
        version: versionOf(type, row),
        data: resourceOf({ of: collection, row: service.toRow({ ...stored, ...Object.fromEntries(flags) }, actor) }),
        ...(seesActors(actor) && {
          actor: actor_id === null ? null : { id: actor_id, ...viaOf(actor_via) },
        }),
      },
    }
  }

  async function show(row: ChangeRow, reader: Reader): Promise<ShownChange | undefined> {
    const { id, at } = row
    if (isReset(row, reader.actor) || (await changesView(row, reader)))
      return { id, change: { type: resetType(collection), at, data: null }, isLast: true }
    if (row.topic !== collection.name) return undefined
    const stored = JSON.parse(row.data) as StoredRow
    const isDeleted = row.type.endsWith('.deleted')
    if (!isDeleted && (await isVisible(stored, reader, reader.judge))) return present(row, stored, reader, reader.judge)
    if (!isDeleted && !row.type.endsWith('.updated')) return undefined
    const judge = await judgeWhoShows({ ...stored, ...formerOf(stored) }, reader)
    if (!judge) return undefined
    if (isDeleted) return present(row, stored, reader, judge)
    return {
      id,
      change: { type: `${collection.singular}.left`, at, data: { id: row.entity_id, type: collection.name } },
    }
  }

  /** What a reader gets of these entries, with their places in the log. Ends with the first reset. */
  async function showTo(rows: readonly ChangeRow[], given: Actor): Promise<ShownChange[]> {
    const actor = readerOf(given, collection)
    const reader = createReader(actor, actor.principal ?? everything)
    const shown: ShownChange[] = []
    // Loads the related rows of all entries at once.
    await reader.judge((findRelated) => {
      for (const { topic, data } of rows) {
        const each = topic === collection.name ? (JSON.parse(data) as StoredRow | null) : null
        if (each) isAllowed(rule, collection, reader.principal, { row: each, after: each, findRelated })
      }
    })
    for (const row of rows) {
      const change = await show(row, reader)
      if (change) shown.push(change)
      if (change?.isLast) break
    }
    return shown
  }

  /** Undefined: those of other topics matter too. */
  const topic = isSameForAll ? collection.name : undefined

  return {
    isSameForAll,
    topic,
    show: showTo,
    /** Undefined for somebody who gets what all get. */
    of(actor: () => Actor): ReaderView | undefined {
      if (isSameForAll && !seesActors(actor())) return undefined
      return { topic, show: (rows) => showTo(rows, actor()) }
    },
  }
}

const seesActors = ({ principal, allows }: Actor) =>
  !principal || (principal.can('audit.view') && allows?.('audit.view') !== false)

/** The service itself. */
const everything: RulePrincipal = { id: undefined, can: () => true, hasRole: () => true }

function formerOf(row: StoredRow): StoredRow {
  return (row[formerValues] ?? {}) as StoredRow
}

/** `key 12`, or the id of a session. */
function viaOf(via: string | null): { key: string } | { session: string } | undefined {
  if (via === null) return undefined
  return via.startsWith('key ') ? { key: via.slice('key '.length) } : { session: via }
}
