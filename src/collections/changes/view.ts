/**
 * What a reader gets of the change log of a collection: entries of rows that they may read. A row that they can no longer see has
 * left; where the whole view may have changed, it is reset. Applied in order, these keep a copy exact.
 */
import type { ChangeRow } from '../../platform/changes/change.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { PresentedChange } from '../../platform/changes/topics.ts'
import type { Database, Value } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import type { Actor } from '../actor.ts'
import { type Described, resolvePath } from '../declare/describe.ts'
import type { FieldPath, Rule } from '../declare/rules.ts'
import { resourceOf } from '../resource.ts'
import { isAllowed, type StoredRow } from '../rules/predicate.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { quote, storedFieldsOf } from '../schema/tables.ts'
import { type CollectionService, versionOf } from '../service.ts'

export interface ChangeViewDeps {
  service: CollectionService
  db: Database
  changes: Pick<ChangeLog, 'store'>
}

/** A condition on rows of another collection, on which the read rule depends. */
interface Dependency {
  target: Described
  /** Evaluated on the related row. Undefined: it cannot be judged without the row that refers to it. */
  rule: Rule | undefined
  fields: readonly string[]
}

/** Nested relations at most; a chain of `through` is finite. */
const maxLoads = 6

export type ChangeView = ReturnType<typeof createChangeView>

export function createChangeView({ service, db, changes }: ChangeViewDeps) {
  const { collection } = service
  const rule = collection.rules?.read as Rule
  const dependencies = dependenciesOf(collection, rule)
  const guarded = [...collection.fields.values()].filter(({ definition }) => definition.options.readable)
  const isSameForAll = rule.kind === 'everybody' && guarded.length === 0
  const topics = new Map(dependencies.map(({ target }) => [target.name, target]))

  /** Rows as they are now, by collection and id; loaded as rules ask for them. */
  function createRelated() {
    const rows = new Map<string, StoredRow | undefined>()
    const keyOf = (target: Described, id: number) => `${target.name} ${id}`
    return async function judge<T>(
      work: (find: (target: Described, id: number) => StoredRow | undefined) => T,
    ): Promise<T> {
      for (let loads = 0; ; loads++) {
        const missing = new Map<Described, Set<number>>()
        const made = work((target, id) => {
          const key = keyOf(target, id)
          if (!rows.has(key)) missing.set(target, (missing.get(target) ?? new Set()).add(id))
          return rows.get(key)
        })
        if (missing.size === 0 || loads > maxLoads) return made
        for (const [target, ids] of missing) {
          for (const id of ids) rows.set(keyOf(target, id), undefined)
          for (const row of await readRows(target, [...ids])) rows.set(keyOf(target, row.id as number), row)
        }
      }
    }
  }

  async function readRows(target: Described, ids: readonly number[]): Promise<StoredRow[]> {
    const columns = storedFieldsOf(target).map(({ name }) => quote(name))
    const live = target.rules ? ' AND deleted_at IS NULL' : ''
    const sql = `SELECT ${columns.join(', ')} FROM ${quote(target.table)} WHERE ${idIsListed(db)}${live}`
    const rows = await db.all<Record<string, Value>>(sql, [toIdList(db, ids)])
    return rows.map((row) => withLists(row, target))
  }

  async function before(row: ChangeRow): Promise<StoredRow | undefined> {
    const { entries } = await changes.store.readHistory({
      topic: row.topic,
      entityId: row.entity_id as number,
      before: row.id,
      limit: 1,
      maxBytes: 1,
    })
    return entries[0] && (JSON.parse(entries[0].data) as StoredRow)
  }

  /** Whether a change of a related row changes what this reader may see. */
  async function changesView(row: ChangeRow, principal: RulePrincipal): Promise<boolean> {
    const target = topics.get(row.topic)
    if (!target || row.type.endsWith('.created') || row.type.endsWith('.restored')) return false
    // What refers to it is gone or cleared, and can no longer be judged.
    if (row.type.endsWith('.deleted')) return true
    const [old, now] = [await before(row), JSON.parse(row.data) as StoredRow]
    if (!old) return true
    const judge = createRelated()
    for (const dependency of dependencies) {
      if (dependency.target !== target) continue
      const { rule, fields } = dependency
      const isChanged = fields.some((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
      if (!isChanged) continue
      if (!rule) return true
      const outcomes = await judge((findRelated) =>
        [old, now].map((each) => isAllowed(rule, target, principal, { row: each, after: each, findRelated })),
      )
      if (outcomes[0] !== outcomes[1]) return true
    }
    return false
  }

  function present(row: ChangeRow, found: Record<string, unknown>, actor: Actor): PresentedChange {
    const { type, at, actor_id, actor_via } = row
    const seesActor = !actor.principal || actor.principal.can('audit.view')
    return {
      type,
      at,
      version: versionOf(type, row),
      data: resourceOf({ of: collection, row: service.toRow(found, actor) }),
      ...(seesActor && { actor: actor_id === null ? null : { id: actor_id, ...viaOf(actor_via) } }),
    }
  }

  const reset = (at: string): PresentedChange => ({ type: `${collection.name}.reset`, at, data: null })

  async function show(row: ChangeRow, actor: Actor): Promise<PresentedChange | undefined> {
    const { principal } = actor
    if (row.topic !== collection.name) {
      const isOwnRole = row.topic === 'accounts' && row.type === 'user.roles_changed' && row.entity_id === actor.userId
      const isReset = principal && actor.userId !== null && isOwnRole
      return isReset || (principal && (await changesView(row, principal))) ? reset(row.at) : undefined
    }
    const stored = JSON.parse(row.data) as StoredRow
    if (!principal) return present(row, stored, actor)
    const judge = createRelated()
    const isVisible = (each: StoredRow) =>
      judge((findRelated) => isAllowed(rule, collection, principal, { row: each, after: each, findRelated }))
    if (await isVisible(stored)) {
      const flags = await judge((findRelated) =>
        guarded.map(({ name, definition }) => [
          `${name}__readable`,
          isAllowed(definition.options.readable as Rule, collection, principal, {
            row: stored,
            after: stored,
            findRelated,
          }),
        ]),
      )
      return present(row, { ...stored, ...Object.fromEntries(flags) }, actor)
    }
    if (row.type.endsWith('.created') || row.type.endsWith('.deleted')) return undefined
    const old = await before(row)
    if (!old || !(await isVisible(old))) return undefined
    return { type: `${collection.singular}.left`, at: row.at, data: { id: row.entity_id, type: collection.name } }
  }

  return {
    isSameForAll,
    /** Undefined: those of other topics matter too. */
    topic: isSameForAll ? collection.name : undefined,
    /** What a reader gets of these entries, with their places in the log. */
    async show(rows: readonly ChangeRow[], actor: Actor): Promise<{ id: number; change: PresentedChange }[]> {
      const shown: { id: number; change: PresentedChange }[] = []
      for (const row of rows) {
        const isOfInterest = row.topic === collection.name || topics.has(row.topic) || row.topic === 'accounts'
        const change = isOfInterest ? await show(row, actor) : undefined
        if (change) shown.push({ id: row.id, change })
      }
      return shown
    },
  }
}

/** `key 12`, or the id of a session. */
function viaOf(via: string | null): { key: string } | { session: string } | undefined {
  if (via === null) return undefined
  return via.startsWith('key ') ? { key: via.slice('key '.length) } : { session: via }
}

/** In the log lists are lists; in a table they are texts. */
function withLists(row: Readonly<Record<string, Value>>, { fields }: Described): StoredRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      fields.get(name)?.kind === 'list' ? JSON.parse(String(value)) : value,
    ]),
  )
}

function dependenciesOf(collection: Described, rule: Rule | undefined, found: Dependency[] = []): Dependency[] {
  if (!rule) return found
  if ('rules' in rule) {
    for (const each of rule.rules) dependenciesOf(collection, each, found)
  } else if (rule.kind === 'not') dependenciesOf(collection, rule.rule, found)
  else if (rule.kind === 'through') {
    const target = collection.fields.get(rule.relation)?.target
    const nested = target?.rules?.[rule.action]
    if (target && nested) {
      found.push({ target, rule: nested, fields: fieldsOf(nested) })
      dependenciesOf(target, nested, found)
    }
  } else if ('field' in rule) {
    addDependency(rule.field, rule, collection, found)
    if ('operand' in rule && rule.operand.kind === 'field') addDependency(rule.operand, rule, collection, found)
  }
  return found
}

type Comparing = Extract<Rule, { field: FieldPath }>

function addDependency(path: FieldPath, rule: Comparing, collection: Described, found: Dependency[]): void {
  const reached = resolvePath(path, collection)
  const target = reached?.through?.target
  if (!reached || !target?.rules) return
  const isAlone = !('operand' in rule) || rule.operand.kind !== 'field'
  const onTarget = { ...rule, field: { side: 'row', names: [reached.field.name] } } as Rule
  found.push({ target, rule: isAlone ? onTarget : undefined, fields: [reached.field.name] })
}

/** The fields of a row itself that a rule looks at. */
function fieldsOf(rule: Rule): string[] {
  if ('rules' in rule) return rule.rules.flatMap(fieldsOf)
  if (rule.kind === 'not') return fieldsOf(rule.rule)
  if (rule.kind === 'through') return [rule.relation]
  if (!('field' in rule)) return []
  const operand = 'operand' in rule && rule.operand.kind === 'field' ? [rule.operand.names[0] as string] : []
  return [rule.field.names[0] as string, ...operand]
}
