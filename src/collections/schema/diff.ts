/**
 * Compares declarations with a snapshot of what the migrations have made, and writes the statements that lead from one to the
 * other. Nothing is lost unless the declaration says so.
 */
import { hash } from 'node:crypto'
import type { Dialect, Value } from '../../platform/database/database.ts'
import { type Described, type DescribedField, isOwnField, maxTextOf } from '../declare/describe.ts'
import type { FieldDefinition } from '../declare/fields.ts'
import { isMarker, maxItems, toStoredValue } from '../store/values.ts'
import { createLogTriggers } from './change-log.ts'
import {
  copyKept,
  createStepTriggers,
  dropStepTriggers,
  type KeptField,
  keptFieldsOf,
  refuseSuccessor,
} from './kept.ts'
import { dialects, type Snapshot, type SnapshotCollection, type SnapshotField } from './snapshot.ts'
import {
  columnsOf,
  createIndex,
  createListTable,
  createListTriggers,
  createTables,
  hasKey,
  indexesOf,
  itemTypeOf,
  keyColumnOf,
  listTableOf,
  quote,
  stateTable,
  storedFieldsOf,
} from './tables.ts'

export interface Violations {
  sql: Record<Dialect, string>
  reason: string
}

export interface SchemaChange {
  collection: string
  /** For people: `add the field due`. */
  text: string
  statements: Record<Dialect, string[]>
  /** Changes nothing that is there. */
  isAdditive: boolean
  /** In a migration before that of the other changes, which can then work in steps with what it adds. */
  isFirst?: true
  /** Nodes of the previous release cannot serve the table afterwards. */
  breaksOldNodes?: true
  /** It may not be applied while this query counts any rows: they would lose a value, or have one that does not fit. */
  violations?: Violations
  /** It cannot be applied at all. */
  refusal?: string
}

const forBoth = <Made>(make: (dialect: Dialect) => Made): Record<Dialect, Made> => ({
  sqlite: make('sqlite'),
  postgres: make('postgres'),
})

/** `old` has what the declaration does not say of fields that are kept. */
export function snapshotOf(collection: Described, old?: SnapshotCollection): SnapshotCollection {
  const kept = keptFieldsOf(collection, old?.fields)
  const keptNames = kept.map(({ field }) => field.name)
  return {
    table: collection.table,
    fields: Object.fromEntries([
      ...ownFieldsOf(collection).map((field) => [field.name, snapshotOfField(field, collection)]),
      ...kept.map(({ field: { name }, successor, was: { successor: _, ...was } }) => [
        name,
        { ...was, isKept: true, ...(successor && { successor: successor.name }) },
      ]),
    ]),
    indexes: forBoth((dialect) =>
      Object.fromEntries([
        ...Object.entries(old?.indexes[dialect] ?? {}).filter(([, definition]) => isOn(definition, keptNames)),
        ...indexesOf(collection, dialect).map((index) => [
          index.name,
          `${index.isUnique ? 'UNIQUE ' : ''}${index.definition}`,
        ]),
      ]),
    ),
    triggers: forBoth((dialect) => hash('sha256', triggersOf(collection, dialect, kept).join(';'), 'hex').slice(0, 16)),
  }
}

/** Whether an index has a column of one of these fields. */
function isOn(definition: string, names: readonly string[]): boolean {
  return names.some((name) => [name, keyColumnOf({ name })].some((column) => definition.includes(quote(column))))
}

/** By name, so that the order of a declaration means nothing. */
function ownFieldsOf(collection: Described): DescribedField[] {
  const fields = storedFieldsOf(collection).filter(({ name }) => !isOwnField(name))
  return fields.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function snapshotOfField(field: DescribedField, collection: Described): SnapshotField {
  const { definition, target } = field
  const { optional, onDelete } = definition.options
  return {
    ...snapshotOfValue(definition.computed?.type ?? definition),
    ...(target && { target: target.name }),
    ...(definition.computed && { isComputed: true }),
    ...((optional || definition.computed) && { optional: true }),
    ...(hasKey(field, collection) && { hasKey: true }),
    ...(field.kind === 'belongsTo' && !target?.rules && onDelete !== undefined && { onDelete }),
  }
}

function snapshotOfValue(definition: FieldDefinition): SnapshotField {
  const { kind, item, values, options } = definition
  const { min, max, scale } = options
  const most = ['text', 'email', 'url'].includes(kind)
    ? maxTextOf(definition)
    : kind === 'list'
      ? (max ?? maxItems)
      : max
  return {
    kind,
    ...(item && { item: snapshotOfValue(item) }),
    ...(scale !== undefined && { scale }),
    ...(values && { values }),
    ...(min !== undefined && { min }),
    ...(most !== undefined && { max: most }),
  }
}

function triggersOf(collection: Described, dialect: Dialect, kept: readonly KeptField[]): string[] {
  const lists = [...ownFieldsOf(collection), ...kept.map(({ field }) => field)].filter(({ kind }) => kind === 'list')
  return [
    ...lists.flatMap((field) => {
      const pair = kept.find((each) => each.successor && [each.field.name, each.successor.name].includes(field.name))
      const changing = pair ? [pair.field.name, pair.successor?.name as string] : [field.name]
      return createListTriggers(collection, field, dialect, changing)
    }),
    ...createStepTriggers(collection, kept, dialect),
    ...createLogTriggers(collection, dialect, kept),
  ]
}

/** The changes that lead from the snapshot to the declarations. Collections that are no longer declared keep their tables. */
export function diffCollections(before: Snapshot['collections'], collections: readonly Described[]): SchemaChange[] {
  return collections.flatMap((collection) => {
    const old = before[collection.name]
    const unknown = collection.kept.find((name) => !old?.fields[name])
    if (unknown !== undefined) {
      const refusal = `\`kept\` names "${unknown}", which the migrations do not have`
      return [{ collection: collection.name, text: `keep ${unknown}`, statements: nothing, isAdditive: false, refusal }]
    }
    if (old) return diffCollection(old, collection)
    const create = (dialect: Dialect) => [
      ...createTables(collection, dialect),
      ...createLogTriggers(collection, dialect),
    ]
    return [
      { collection: collection.name, text: `create ${collection.name}`, statements: forBoth(create), isAdditive: true },
    ]
  })
}

function diffCollection(old: SnapshotCollection, collection: Described): SchemaChange[] {
  const current = snapshotOf(collection, old)
  if (JSON.stringify(current) === JSON.stringify(old)) return []
  const kept = keptFieldsOf(collection, old.fields)
  const renamed = Object.entries(old.fields).filter(([name]) => !kept.some(({ field }) => field.name === name))
  const renames = findRenames(Object.fromEntries(renamed), ownFieldsOf(collection))
  const replaced = Object.entries(current.fields).flatMap(([name, is]) => {
    const was = formerOf(name, old.fields, renames)
    return was && isReplaced(was, is) ? [name] : []
  })
  const place = { collection, renames, replaced, kept }
  const changes = diffFields(old, current, place)
  const indexes = diffIndexes(old, current, place)
  const hasTriggersChanged = dialects.some((dialect) => old.triggers[dialect] !== current.triggers[dialect])
  if (changes.length === 0 && indexes.length === 0 && !hasTriggersChanged) return []
  // Without triggers in between: what a migration does to rows is no change that anybody made.
  const lists = Object.keys(old.fields).filter((name) => old.fields[name]?.kind === 'list')
  const added = kept.filter(({ field, successor }) => successor && !old.fields[field.name]?.successor)
  const isInStep = Object.values(old.fields).some(({ successor }) => successor)
  const drop = forBoth((dialect) => [
    ...(isInStep || added.length > 0 ? dropStepTriggers(collection.table, dialect) : []),
    ...dropTriggers(collection.table, lists, dialect),
  ])
  const create = forBoth((dialect) => triggersOf(collection, dialect, kept))
  const around = (statements: Record<Dialect, string[]>, text: string): SchemaChange => ({
    collection: collection.name,
    text,
    statements,
    isAdditive: true,
  })
  const addSuccessors = (dialect: Dialect) => [
    ...added.flatMap(({ successor }) => addColumns(collection, successor as DescribedField, dialect)),
    ...(isInStep ? dropStepTriggers(collection.table, dialect) : []),
    ...createStepTriggers(collection, kept, dialect),
  ]
  const names = added.map(({ successor }) => successor?.name).join(', ')
  const isRefused = changes.some(({ refusal }) => refusal !== undefined)
  return [
    ...(added.length > 0 && !isRefused
      ? [
          {
            ...around(forBoth(addSuccessors), `add the field ${names}, in step with another one`),
            isFirst: true as const,
          },
        ]
      : []),
    around(drop, ''),
    ...indexes.filter(({ text }) => text.startsWith('drop')),
    ...changes,
    ...indexes.filter(({ text }) => !text.startsWith('drop')),
    ...(changes.length > 0
      ? [
          around(
            forBoth(() => [forgetCalculated(collection)]),
            '',
          ),
        ]
      : []),
    around(create, changes.length + indexes.length > 0 ? '' : 'write the triggers anew'),
  ]
}

/** What is calculated from other fields is so again: see backfill.ts. */
function forgetCalculated({ name }: Described): string {
  return `DELETE FROM ${stateTable} WHERE collection = '${name}' AND part = 'values'`
}

/** Of all that may be there: of the log, and of each list. */
function dropTriggers(table: string, lists: readonly string[], dialect: Dialect): string[] {
  if (dialect === 'sqlite') {
    const log = ['logged', 'versioned', 'change_logged', 'deletion_logged', 'removal_logged'].map(
      (name) => `${table}_${name}`,
    )
    const ofLists = lists.flatMap((list) => ['added', 'changed', 'removed'].map((name) => `${table}__${list}_${name}`))
    return [...log, ...ofLists].map((name) => `DROP TRIGGER IF EXISTS ${name}`)
  }
  const log = ['log_created', 'add_version', 'log_change', 'log_deletion', 'log_removal'].map(
    (name) => `${table}_${name}`,
  )
  return [...log, ...lists.map((list) => `keep_${table}__${list}`)].map(
    (name) => `DROP FUNCTION IF EXISTS ${name}() CASCADE`,
  )
}

interface DiffPlace {
  collection: Described
  /** Fields that get a new column, and with it new indexes. */
  replaced: readonly string[]
  kept: readonly KeptField[]
  /** Former names by new ones, in the order in which columns can be renamed. */
  renames: ReadonlyMap<string, string>
}

function diffIndexes(
  old: SnapshotCollection,
  current: SnapshotCollection,
  { collection: { name: collection }, renames, replaced, kept }: DiffPlace,
): SchemaChange[] {
  // Before the migration, these names are those of other columns.
  const moved = [...[...renames].flat(), ...replaced]
  const all = new Set(
    dialects.flatMap((dialect) => [...Object.keys(old.indexes[dialect]), ...Object.keys(current.indexes[dialect])]),
  )
  const copies = kept.flatMap(({ field, successor }) => (successor ? [[successor.name, field.name] as const] : []))
  const formerly = (sql: string) =>
    [...renames, ...copies].reduce((text, [name, was]) => text.replaceAll(quote(name), quote(was)), sql)
  return [...all].flatMap((name): SchemaChange[] => {
    const [was, is] = [old.indexes, current.indexes].map((each) => dialects.map((dialect) => each[dialect][name]))
    if (JSON.stringify(was) === JSON.stringify(is) && !isOn(is?.[0] ?? '', replaced)) return []
    const dropped = {
      collection,
      text: `drop the index ${name}`,
      statements: forBoth(() => [`DROP INDEX IF EXISTS ${name}`]),
      isAdditive: true,
    }
    const [definition] = is ?? []
    if (definition === undefined) return [dropped]
    const isUnique = definition.startsWith('UNIQUE ')
    const create = (dialect: Dialect) => {
      const text = (current.indexes[dialect][name] ?? '').replace(/^UNIQUE /, '')
      // Before the transaction of the migrations, while others write to the table.
      return dialect === 'postgres' && !isUnique && !isOn(text, moved)
        ? [`-- concurrently\nCREATE INDEX IF NOT EXISTS ${name} ${text}`]
        : [createIndex({ name, definition: text, isUnique })]
    }
    const [columns = '', where = ''] = definition.slice(definition.indexOf('(') + 1).split(') WHERE ')
    const areThere = columns.split(', ').map((column) => `${column} IS NOT NULL`)
    const twice = `SELECT 1 AS one FROM ${quote(current.table)} WHERE ${[where, ...areThere].join(' AND ')}
      GROUP BY ${columns} HAVING count(*) > 1`
    const created: SchemaChange = {
      collection,
      text: `create the ${isUnique ? 'unique ' : ''}index ${name}`,
      statements: forBoth(create),
      isAdditive: !isUnique,
      ...(isUnique && {
        violations: {
          sql: forBoth(() => `SELECT count(*) AS found FROM (${formerly(twice)}) AS twice`),
          reason: 'values that are there more than once',
        },
      }),
    }
    return was?.[0] === undefined ? [created] : [dropped, created]
  })
}

/** `was` may name a field that gets a former one itself, but none that stays. */
function findRenames(old: SnapshotCollection['fields'], fields: readonly DescribedField[]): Map<string, string> {
  const byName = new Map(fields.map((field) => [field.name, field]))
  const formerOf = (name: string) => {
    const was = byName.get(name)?.definition.options.was
    return was !== undefined && was !== name && old[was] ? was : undefined
  }
  const isLeft = (name: string, way: readonly string[] = []): boolean => {
    const was = formerOf(name)
    if (!byName.has(name)) return true
    return was !== undefined && !way.includes(name) && isLeft(was, [...way, name])
  }
  const renames = new Map<string, string>()
  const taken = new Set<string>()
  for (let before = -1; before < renames.size; ) {
    before = renames.size
    for (const { name } of fields) {
      const was = formerOf(name)
      const isFree = !old[name] || taken.has(name)
      if (was === undefined || renames.has(name) || !isFree || taken.has(was) || !isLeft(was)) continue
      renames.set(name, was)
      taken.add(was)
    }
  }
  return renames
}

/** What the field was before: undefined if it is new, also where another field took its name away. */
function formerOf(
  name: string,
  old: SnapshotCollection['fields'],
  renames: DiffPlace['renames'],
): SnapshotField | undefined {
  const isTaken = [...renames.values()].includes(name) && !renames.has(name)
  return isTaken ? undefined : old[renames.get(name) ?? name]
}

type MakeChange = (text: string, statements: Record<Dialect, string[]>, more?: Partial<SchemaChange>) => SchemaChange

function diffFields(old: SnapshotCollection, current: SnapshotCollection, place: DiffPlace): SchemaChange[] {
  const { collection, renames, kept } = place
  const change: MakeChange = (text, statements, more = {}) => ({
    collection: collection.name,
    text,
    statements,
    isAdditive: false,
    ...more,
  })
  const taken = new Set(renames.values())
  const dropped = Object.entries(old.fields).flatMap(([name, field]) =>
    current.fields[name] || taken.has(name) ? [] : [dropField(name, field, collection, change)],
  )
  const renamed = [...renames].map(([name, from]) =>
    renameField({ name, from, field: old.fields[from] as SnapshotField }, collection, change),
  )
  const others = ownFieldsOf(collection).flatMap((field): SchemaChange[] => {
    const was = formerOf(field.name, old.fields, renames)
    const pair = kept.find((each) => each.successor?.name === field.name)
    if (!was && pair) return addSuccessor(pair, { current, collection, change })
    if (!was) return [addField(field, collection, change, old.fields)]
    const from = renames.get(field.name) ?? field.name
    const isMoved = [...renames].flat().includes(field.name)
    const step = { was, from, is: current.fields[field.name] as SnapshotField, isMoved }
    return changeField(field, step, collection, change)
  })
  return [...dropped, ...renamed, ...others]
}

const nothing = forBoth((): string[] => [])

function dropField(name: string, field: SnapshotField, { table, gone }: Described, change: MakeChange): SchemaChange {
  const text = `drop the field ${name}`
  if (!gone.includes(name)) {
    const refusal = `the field "${name}" is no longer declared: name it in \`gone: ['${name}']\` to delete its values, or in \`was: '${name}'\` of the field that replaces it`
    return change(text, nothing, { refusal })
  }
  const columns = [name, ...(field.hasKey ? [keyColumnOf({ name })] : [])]
  return change(
    text,
    forBoth(() => [
      ...(field.kind === 'list' ? [`DROP TABLE ${table}__${name}`] : []),
      ...columns.map((column) => `ALTER TABLE ${quote(table)} DROP COLUMN ${quote(column)}`),
    ]),
    field.isKept ? {} : { breaksOldNodes: true },
  )
}

function renameField(
  { name, from, field }: { name: string; from: string; field: SnapshotField },
  { table }: Described,
  change: MakeChange,
): SchemaChange {
  const columns = [[from, name], ...(field.hasKey ? [[from, name].map((each) => keyColumnOf({ name: each }))] : [])]
  const [before, now] = [`${table}__${from}`, `${table}__${name}`]
  // The index of a list has the name that it would have in a new table.
  const list = [
    `ALTER TABLE ${before} RENAME TO ${now}`,
    `DROP INDEX ${before}_rows`,
    `CREATE INDEX ${now}_rows ON ${now} (row_id)`,
  ]
  return change(
    `rename the field ${from} to ${name}`,
    forBoth(() => [
      ...columns.map(
        ([was = '', is = '']) => `ALTER TABLE ${quote(table)} RENAME COLUMN ${quote(was)} TO ${quote(is)}`,
      ),
      ...(field.kind === 'list' ? list : []),
    ]),
    { breaksOldNodes: true },
  )
}

function addField(
  field: DescribedField,
  collection: Described,
  change: MakeChange,
  old: SnapshotCollection['fields'],
): SchemaChange {
  const { name, kind, definition } = field
  const { options } = definition
  const text = `add the field ${name}`
  const { was } = options
  if (was !== undefined && old[was] && !old[name]) {
    return change(text, nothing, { refusal: `the field "${name}" names "${was}" in \`was\`, which is still declared` })
  }
  const table = quote(collection.table)
  const filling = 'backfill' in options ? options.backfill : isMarker(options.default) ? undefined : options.default
  const value = filling === undefined ? undefined : literal(toStoredValue(definition, filling))
  const add = (dialect: Dialect) => [
    ...(value !== undefined && dialect === 'postgres'
      ? addFilled(collection, field, value)
      : [
          ...addColumns(collection, field, dialect),
          ...(value === undefined ? [] : [`UPDATE ${table} SET ${quote(name)} = ${value}`]),
        ]),
    ...(kind === 'list' ? createListTable(collection, field, dialect) : []),
    ...(kind === 'list' && value !== undefined ? [fillList(collection, field, dialect)] : []),
  ]
  const isUnique = options.unique || options.uniqueWithin !== undefined
  const needsValue = !options.optional && kind !== 'list' && kind !== 'computed' && value === undefined
  const rows = `SELECT count(*) AS found FROM ${table}`
  const violations = needsValue
    ? {
        sql: forBoth(() => rows),
        reason: `rows without a value for the new field "${name}": make it optional, or give it a \`default\` or a \`backfill\``,
      }
    : isUnique && value !== undefined && value !== 'NULL'
      ? {
          sql: forBoth(() => `${rows} WHERE deleted_at IS NULL HAVING count(*) > 1`),
          reason: `rows that would have the same value of "${name}", which is unique`,
        }
      : undefined
  const guard = needsValue ? requireNone(rows, `rows without ${name}`) : []
  return change(
    text,
    forBoth((dialect) => [...guard, ...add(dialect)]),
    { isAdditive: true, ...(violations && { violations }) },
  )
}

function addColumns(collection: Described, field: DescribedField, dialect: Dialect): string[] {
  const table = quote(collection.table)
  return columnsOf(collection, field, dialect).map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`)
}

/** While its predecessor stays. Its own limits are checked as those of a renamed field. */
function addSuccessor(
  kept: KeptField,
  { current, collection, change }: { current: SnapshotCollection; collection: Described; change: MakeChange },
): SchemaChange[] {
  const field = kept.successor as DescribedField
  const from = kept.field.name
  const [was, is] = [kept.was, current.fields[field.name] as SnapshotField]
  const text = `copy the values of ${from} to ${field.name}`
  const refusal = refuseSuccessor(field, was, is)
  if (refusal !== undefined) return [change(text, nothing, { refusal })]
  const add = (dialect: Dialect) => [
    copyKept(kept, collection, dialect),
    ...(field.kind === 'list'
      ? [...createListTable(collection, field, dialect), fillList(collection, field, dialect)]
      : []),
  ]
  return [change(text, forBoth(add)), ...changeField(field, { was, is, from, isMoved: true }, collection, change)]
}

/** PostgreSQL stores the value once for all rows that there are, however many. New rows are given theirs by the service. */
function addFilled(collection: Described, field: DescribedField, value: string): string[] {
  const alter = `ALTER TABLE ${quote(collection.table)}`
  const [column = '', ...keys] = columnsOf(collection, field, 'postgres')
  return [
    `${alter} ADD COLUMN ${column.replace(" DEFAULT '[]'", '')} DEFAULT ${value}`,
    `${alter} ALTER COLUMN ${quote(field.name)} ${field.kind === 'list' ? "SET DEFAULT '[]'" : 'DROP DEFAULT'}`,
    ...keys.map((key) => `${alter} ADD COLUMN ${key}`),
  ]
}

/** The table by which a list is searched, from the lists themselves. */
function fillList(collection: Described, field: DescribedField, dialect: Dialect): string {
  const { table } = collection
  const column = `${quote(table)}.${quote(field.name)}`
  const [items, value] =
    dialect === 'sqlite'
      ? [`json_each(${column})`, 'value']
      : [`json_array_elements_text(CAST(${column} AS JSON)) AS item`, `CAST(item AS ${itemTypeOf(field, dialect)})`]
  return `INSERT INTO ${listTableOf(collection, field)} (row_id, value)
    SELECT DISTINCT ${quote(table)}.id, ${value} FROM ${quote(table)}, ${items}`
}

interface FieldStep {
  /** Before the migration, the name is that of another column. */
  isMoved: boolean
  was: SnapshotField
  is: SnapshotField
  /** Its former name. */
  from: string
}

function changeField(
  field: DescribedField,
  { was, is, from, isMoved }: FieldStep,
  collection: Described,
  change: MakeChange,
): SchemaChange[] {
  const { name, definition } = field
  if (is.isComputed && !was.isComputed) {
    const refusal = `the field "${name}" cannot be computed, because it has values: declare another field, and drop this one`
    return [change(`change ${name}`, nothing, { refusal })]
  }
  if (isReplaced(was, is)) return [replaceField(field, { was, is, from }, collection, change)]
  const { options } = definition
  const table = quote(collection.table)
  const column = quote(name)
  const changes: SchemaChange[] = []
  const digits = (is.scale ?? 0) - (was.scale ?? 0)
  const by = 10 ** Math.abs(digits)
  if (digits > 0) {
    changes.push(
      change(
        `give ${name} more decimals`,
        forBoth(() => [`UPDATE ${table} SET ${column} = ${column} * ${by}`]),
      ),
    )
  }
  const backfill = 'backfill' in options ? literal(toStoredValue(definition, options.backfill)) : undefined
  if (digits < 0) {
    const rounded = (of: string) => `SELECT count(*) AS found FROM ${table} WHERE ${quote(of)} % ${by} <> 0`
    const reason = `values of "${name}" with more decimals`
    const violations = { sql: forBoth(() => rounded(from)), reason: `${reason}: ${orBackfill}` }
    const fit =
      backfill === undefined
        ? requireNone(rounded(name), reason)
        : [`UPDATE ${table} SET ${column} = ${backfill} * ${by} WHERE ${column} % ${by} <> 0`]
    changes.push(
      change(
        `give ${name} fewer decimals`,
        forBoth(() => [...fit, `UPDATE ${table} SET ${column} = ${column} / ${by}`]),
        backfill === undefined ? { violations } : {},
      ),
    )
  }
  for (const { text, where, reason } of misfitsOf(name, was, is)) {
    const conditionOf = (of: string, { scale = 0 }: SnapshotField) =>
      forBoth((dialect) => where({ table: collection.table, name: of, scale, dialect }))
    const count = (condition: string) => `SELECT count(*) AS found FROM ${table} WHERE ${condition}`
    const [before, now] = [conditionOf(from, was), conditionOf(name, is)]
    if (backfill === undefined) {
      const violations = {
        sql: forBoth((dialect) => count(before[dialect])),
        reason: `${reason}: ${orBackfill}`,
      }
      changes.push(
        change(
          text,
          forBoth((dialect) => requireNone(count(now[dialect]), reason)),
          { violations },
        ),
      )
      continue
    }
    const canStep = !isMoved && digits === 0
    const fill = (dialect: Dialect) => [
      updateInSteps(collection, { set: `${column} = ${backfill}`, where: now[dialect] }, canStep ? dialect : 'sqlite'),
      ...(is.kind === 'list'
        ? [`DELETE FROM ${listTableOf(collection, field)}`, fillList(collection, field, dialect)]
        : []),
    ]
    changes.push(change(text, forBoth(fill)))
  }
  return [...changes, ...changeKey(field, { was, is }, collection, change)]
}

/** PostgreSQL does so ahead of the transaction, without the triggers of the log. */
function updateInSteps({ table }: Described, { set, where }: { set: string; where: string }, dialect: Dialect): string {
  const update = `UPDATE ${quote(table)} SET ${set}\nWHERE ${where}`
  return dialect === 'postgres' ? `-- in steps, without ${table}_versioned, ${table}_change_logged\n${update}` : update
}

const orBackfill = 'change them, or give the field a `backfill`'

/** Whether the values of the field cannot stay in their column. */
function isReplaced(was: SnapshotField, is: SnapshotField): boolean {
  const isNew = (of: SnapshotField, now: SnapshotField) => {
    const areAlike = alike.some((kinds) => kinds.includes(of.kind) && kinds.includes(now.kind))
    return of.kind !== now.kind && !areAlike
  }
  const areOtherItems = is.item?.kind !== was.item?.kind || is.item?.scale !== was.item?.scale
  return isNew(was, is) || areOtherItems || was.target !== is.target || !isSameOnDelete(was, is)
}

const isSameOnDelete = (was: SnapshotField, is: SnapshotField) =>
  (was.onDelete ?? 'refuse') === (is.onDelete ?? 'refuse')

/** Kinds whose values are stored in the same way. */
const alike = [
  ['text', 'choice', 'email', 'url', 'day'],
  ['integer', 'decimal'],
]

/** In a column of another type. Values are only copied where just the reference changes. */
function replaceField(
  field: DescribedField,
  { was, is, from }: Omit<FieldStep, 'isMoved'>,
  collection: Described,
  change: MakeChange,
): SchemaChange {
  const { name, definition } = field
  const table = quote(collection.table)
  const next = `${name}__next`
  const kindOf = ({ kind, item, target }: SnapshotField) => [kind, item?.kind, target].filter(Boolean).join(' of ')
  const isSame = kindOf(was) === kindOf(is) && was.item?.scale === is.item?.scale
  const { options } = definition
  const filling = 'backfill' in options ? literal(toStoredValue(definition, options.backfill)) : undefined
  const hasValue = (column: string) => (was.kind === 'list' ? `${column} <> '[]'` : `${column} IS NOT NULL`)
  // Every row of a field that becomes required needs a value.
  const where = (column: string) => (is.optional || is.kind === 'list' ? hasValue(quote(column)) : 'TRUE')
  const count = (column: string) => `SELECT count(*) AS found FROM ${table} WHERE ${where(column)}`
  const isChecked = !isSame && !is.isComputed && filling === undefined
  const reason = `rows with values of "${name}", which cannot become ${kindOf(is)}`
  const fill = isSame ? quote(name) : filling
  const former = [name, ...(was.hasKey ? [keyColumnOf({ name })] : [])]
  const text = isSame ? `change the reference of ${name}` : `change ${name} from ${kindOf(was)} to ${kindOf(is)}`
  const replace = (dialect: Dialect) => {
    const [column = '', ...keys] = columnsOf(collection, field, dialect)
    return [
      ...(isChecked ? requireNone(count(name), reason) : []),
      `ALTER TABLE ${table} ADD COLUMN ${column.replace(quote(name), quote(next))}`,
      ...(fill === undefined || is.isComputed
        ? []
        : [`UPDATE ${table} SET ${quote(next)} = ${fill} WHERE ${where(name)}`]),
      ...(was.kind === 'list' ? [`DROP TABLE ${collection.table}__${name}`] : []),
      ...former.map((each) => `ALTER TABLE ${table} DROP COLUMN ${quote(each)}`),
      `ALTER TABLE ${table} RENAME COLUMN ${quote(next)} TO ${quote(name)}`,
      ...keys.map((key) => `ALTER TABLE ${table} ADD COLUMN ${key}`),
      ...(is.kind === 'list'
        ? [...createListTable(collection, field, dialect), fillList(collection, field, dialect)]
        : []),
    ]
  }
  const advice = 'give the field a `backfill`, or declare another field, and drop this one'
  const violations = { sql: forBoth(() => count(from)), reason: `${reason}: ${advice}` }
  return change(text, forBoth(replace), isChecked ? { violations } : {})
}

function changeKey(
  field: DescribedField,
  { was, is }: Pick<FieldStep, 'was' | 'is'>,
  collection: Described,
  change: MakeChange,
): SchemaChange[] {
  const table = quote(collection.table)
  if (is.hasKey && !was.hasKey) {
    const add = (dialect: Dialect) =>
      columnsOf(collection, field, dialect)
        .slice(1)
        .map((key) => `ALTER TABLE ${table} ADD COLUMN ${key}`)
    return [change(`make ${field.name} sortable and searchable`, forBoth(add), { isAdditive: true })]
  }
  if (is.hasKey || !was.hasKey) return []
  const drop = [`ALTER TABLE ${table} DROP COLUMN ${quote(keyColumnOf(field))}`]
  return [
    change(
      `stop sorting and searching by ${field.name}`,
      forBoth(() => drop),
      { isAdditive: true },
    ),
  ]
}

interface MisfitPlace {
  table: string
  name: string
  scale: number
  dialect: Dialect
}

/** Values that no longer fit. */
interface Misfit {
  text: string
  reason: string
  where(place: MisfitPlace): string
}

function misfitsOf(name: string, was: SnapshotField, is: SnapshotField): Misfit[] {
  const misfits: Misfit[] = valueMisfitsOf(name, was, is).map(({ where, ...misfit }) => ({
    ...misfit,
    where: (place) => where(quote(place.name), place.scale),
  }))
  if (was.optional && !is.optional) {
    const where = (place: MisfitPlace) => `${quote(place.name)} IS NULL`
    misfits.push({ text: `require ${name}`, reason: `rows without a value for "${name}"`, where })
  }
  if (is.kind !== 'list') return misfits
  const ofItems = valueMisfitsOf(name, was.item as SnapshotField, is.item as SnapshotField).map(
    ({ where, ...misfit }): Misfit => ({
      ...misfit,
      where: (place) =>
        `EXISTS (SELECT 1 FROM ${place.table}__${place.name} AS item WHERE item.row_id = ${quote(place.table)}.id AND ${where('item.value', is.item?.scale ?? 0)})`,
    }),
  )
  const most = is.max as number
  const isShorter = most < (was.max as number)
  const length = ({ name, dialect }: MisfitPlace) =>
    `json_array_length(${dialect === 'sqlite' ? quote(name) : `CAST(${quote(name)} AS JSON)`}) > ${most}`
  const tooLong = { text: `shorten ${name}`, reason: `lists of "${name}" with more than ${most} items`, where: length }
  return [...misfits, ...ofItems, ...(isShorter ? [tooLong] : [])]
}

type ValueMisfit = Omit<Misfit, 'where'> & { where(value: string, scale: number): string }

function valueMisfitsOf(name: string, was: SnapshotField, is: SnapshotField): ValueMisfit[] {
  if (was.kind !== is.kind && ['email', 'url', 'day'].includes(is.kind)) {
    const reason = `rows with values of "${name}", which may be no ${is.kind}`
    return [{ text: `make ${name} ${is.kind}`, reason, where: (value) => `${value} IS NOT NULL` }]
  }
  if (was.kind !== is.kind && is.kind === 'choice') {
    const values = (is.values ?? []).map(literal).join(', ')
    const reason = `rows whose "${name}" is none of ${is.values?.join(', ')}`
    return [{ text: `make ${name} a choice`, reason, where: (value) => `${value} NOT IN (${values})` }]
  }
  const removed = is.kind === 'choice' ? (was.values ?? []).filter((value) => !is.values?.includes(value)) : []
  const isText = ['text', 'email', 'url'].includes(is.kind)
  const isNumber = ['integer', 'decimal'].includes(is.kind)
  const { max = Number.POSITIVE_INFINITY, min = Number.NEGATIVE_INFINITY } = isText || isNumber ? is : {}
  const { max: formerMax = Number.POSITIVE_INFINITY, min: formerMin = Number.NEGATIVE_INFINITY } = was
  const isLess = max < formerMax
  const isMore = min > formerMin && !(isText && min <= 0)
  const stored = (limit: number, scale: number) => Math.round(limit * 10 ** scale)
  const sizeOf = (value: string) => (isText ? `length(${value})` : value)
  const what = isText ? ['texts', 'longer', 'shorter'] : ['values', 'greater', 'less']
  return [
    ...(removed.length > 0
      ? [
          {
            text: `remove ${removed.join(', ')} from ${name}`,
            reason: `rows whose "${name}" is ${removed.join(' or ')}`,
            where: (value: string) => `${value} IN (${removed.map(literal).join(', ')})`,
          },
        ]
      : []),
    ...(isLess
      ? [
          {
            text: `limit ${name} to ${max}`,
            reason: `${what[0]} of "${name}" that are ${what[1]} than ${max}`,
            where: (value: string, scale: number) => `${sizeOf(value)} > ${stored(max, scale)}`,
          },
        ]
      : []),
    ...(isMore
      ? [
          {
            text: `require ${min} of ${name}`,
            reason: `${what[0]} of "${name}" that are ${what[2]} than ${min}`,
            where: (value: string, scale: number) => `${sizeOf(value)} < ${stored(min, scale)}`,
          },
        ]
      : []),
  ]
}

/** Fails where a database has other values than the one that was looked at when the migration was written. */
function requireNone(count: string, reason: string): string[] {
  const name = `there are ${reason.replaceAll('"', '')}`.slice(0, 63)
  return [
    `CREATE TEMPORARY TABLE misfits (found BIGINT CONSTRAINT ${quote(name)} CHECK (found = 0))`,
    `INSERT INTO misfits ${count}`,
    'DROP TABLE misfits',
  ]
}

function literal(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  return `'${String(value).replaceAll("'", "''")}'`
}
