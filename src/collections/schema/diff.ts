/**
 * Compares declarations with a snapshot of what the migrations have made, and writes the statements that lead from one to the
 * other. Nothing is lost unless the declaration says so.
 */
import { hash } from 'node:crypto'
import type { Dialect, Value } from '../../platform/database/database.ts'
import { type Described, type DescribedField, isOwnField, maxTextOf, valuesOf } from '../declare/describe.ts'
import { isMarker, toStoredValue } from '../store/values.ts'
import { createLogTriggers } from './change-log.ts'
import {
  columnsOf,
  createIndex,
  createListTable,
  createListTriggers,
  createTables,
  hasKey,
  indexesOf,
  keyColumnOf,
  quote,
  storedFieldsOf,
} from './tables.ts'

/** What the migrations of a folder have made. It is kept next to them. */
export interface Snapshot {
  /** The name space of the migrations. */
  space: string
  collections: Record<string, SnapshotCollection>
}

export interface SnapshotCollection {
  table: string
  fields: Record<string, SnapshotField>
  /** Definitions by name. */
  indexes: Record<Dialect, Record<string, string>>
  /** Of the texts of all triggers. */
  triggers: Record<Dialect, string>
}

interface SnapshotField {
  kind: string
  item?: string
  scale?: number
  values?: readonly string[]
  min?: number
  max?: number
  optional?: boolean
  hasKey?: boolean
  onDelete?: string
}

export interface SchemaChange {
  collection: string
  /** For people: `add the field due`. */
  text: string
  statements: Record<Dialect, string[]>
  /** Changes nothing that is there. */
  isAdditive: boolean
  /** It may not be applied while this query counts any rows: they would lose a value, or have one that does not fit. */
  violations?: { sql: string; reason: string }
  /** It cannot be applied at all. */
  refusal?: string
}

const dialects = ['sqlite', 'postgres'] as const
const forBoth = (make: (dialect: Dialect) => string[]): Record<Dialect, string[]> => ({
  sqlite: make('sqlite'),
  postgres: make('postgres'),
})

export function snapshotOf(collection: Described): SnapshotCollection {
  const byDialect = <Made>(make: (dialect: Dialect) => Made) =>
    Object.fromEntries(dialects.map((dialect) => [dialect, make(dialect)])) as Record<Dialect, Made>
  return {
    table: collection.table,
    fields: Object.fromEntries(
      ownFieldsOf(collection).map((field) => [field.name, snapshotOfField(field, collection)]),
    ),
    indexes: byDialect((dialect) =>
      Object.fromEntries(
        indexesOf(collection, dialect).map((index) => [
          index.name,
          `${index.isUnique ? 'UNIQUE ' : ''}${index.definition}`,
        ]),
      ),
    ),
    triggers: byDialect((dialect) => hash('sha256', triggersOf(collection, dialect).join(';'), 'hex').slice(0, 16)),
  }
}

function ownFieldsOf(collection: Described): DescribedField[] {
  return storedFieldsOf(collection).filter(({ name }) => !isOwnField(name))
}

function snapshotOfField(field: DescribedField, collection: Described): SnapshotField {
  const { definition, target } = field
  const value = definition.computed?.type ?? definition
  const { min, max, scale, optional, onDelete } = value.options
  const isText = ['text', 'email', 'url'].includes(value.kind)
  return {
    kind: value.kind,
    ...(value.item && { item: value.item.kind }),
    ...(scale !== undefined && { scale }),
    ...(valuesOf(definition).values && { values: valuesOf(definition).values as readonly string[] }),
    ...(min !== undefined && { min }),
    ...(isText ? { max: maxTextOf(value) } : max !== undefined && { max }),
    ...((optional || definition.kind === 'computed') && { optional: true }),
    ...(hasKey(field, collection) && { hasKey: true }),
    ...(field.kind === 'belongsTo' && !target?.rules && onDelete !== undefined && { onDelete }),
  }
}

function triggersOf(collection: Described, dialect: Dialect): string[] {
  const lists = ownFieldsOf(collection).filter(({ kind }) => kind === 'list')
  return [
    ...lists.flatMap((field) => createListTriggers(collection, field, dialect)),
    ...createLogTriggers(collection, dialect),
  ]
}

/** The changes that lead from the snapshot to the declarations. Collections that are no longer declared keep their tables. */
export function diffCollections(before: Snapshot['collections'], collections: readonly Described[]): SchemaChange[] {
  return collections.flatMap((collection) => {
    const old = before[collection.name]
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
  const current = snapshotOf(collection)
  if (JSON.stringify(current) === JSON.stringify(old)) return []
  const changes = diffFields(old, current, collection)
  const indexes = diffIndexes(old, current, collection.name)
  const hasTriggersChanged = dialects.some((dialect) => old.triggers[dialect] !== current.triggers[dialect])
  if (changes.length === 0 && indexes.length === 0 && !hasTriggersChanged) return []
  // Without triggers in between: what a migration does to rows is no change that anybody made.
  const lists = Object.keys(old.fields).filter((name) => old.fields[name]?.kind === 'list')
  const drop = forBoth((dialect) => dropTriggers(collection.table, lists, dialect))
  const create = forBoth((dialect) => triggersOf(collection, dialect))
  const around = (statements: Record<Dialect, string[]>, text: string): SchemaChange => ({
    collection: collection.name,
    text,
    statements,
    isAdditive: true,
  })
  return [
    around(drop, ''),
    ...indexes.filter(({ text }) => text.startsWith('drop')),
    ...changes,
    ...indexes.filter(({ text }) => !text.startsWith('drop')),
    around(create, changes.length + indexes.length > 0 ? '' : 'write the triggers anew'),
  ]
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

function diffIndexes(old: SnapshotCollection, current: SnapshotCollection, collection: string): SchemaChange[] {
  const names = new Set(
    dialects.flatMap((dialect) => [...Object.keys(old.indexes[dialect]), ...Object.keys(current.indexes[dialect])]),
  )
  return [...names].flatMap((name): SchemaChange[] => {
    const [was, is] = [old.indexes, current.indexes].map((each) => dialects.map((dialect) => each[dialect][name]))
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    const definitionOf = (dialect: Dialect) => current.indexes[dialect][name]
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
      const text = definitionOf(dialect) ?? ''
      return [createIndex({ name, definition: text.replace(/^UNIQUE /, ''), isUnique })]
    }
    const [columns = '', where = ''] = definition.slice(definition.indexOf('(') + 1).split(') WHERE ')
    const created: SchemaChange = {
      collection,
      text: `create the ${isUnique ? 'unique ' : ''}index ${name}`,
      statements: forBoth(create),
      isAdditive: !isUnique,
      ...(isUnique && {
        violations: {
          sql: `SELECT count(*) AS found FROM (SELECT 1 AS one FROM ${quote(current.table)} WHERE ${where} AND ${columns
            .split(', ')
            .map((column) => `${column} IS NOT NULL`)
            .join(' AND ')} GROUP BY ${columns} HAVING count(*) > 1) AS twice`,
          reason: 'values that are there more than once',
        },
      }),
    }
    return was?.[0] === undefined ? [created] : [dropped, created]
  })
}

function diffFields(old: SnapshotCollection, current: SnapshotCollection, collection: Described): SchemaChange[] {
  const table = quote(collection.table)
  const change = (
    text: string,
    statements: Record<Dialect, string[]>,
    more: Partial<SchemaChange> = {},
  ): SchemaChange => ({
    collection: collection.name,
    text,
    statements,
    isAdditive: false,
    ...more,
  })
  const none = forBoth(() => [])
  const fields = ownFieldsOf(collection)
  const renamed = new Map(
    fields.flatMap(({ name, definition: { options } }): [string, string][] =>
      options.was !== undefined && old.fields[options.was] && !old.fields[name] ? [[options.was, name]] : [],
    ),
  )

  const dropped = Object.entries(old.fields).flatMap(([name, field]): SchemaChange[] => {
    if (current.fields[name] || renamed.has(name)) return []
    if (!collection.gone.includes(name)) {
      const refusal = `the field "${name}" is no longer declared: name it in \`gone: ['${name}']\` to delete its values, or in \`was: '${name}'\` of the field that replaces it`
      return [change(`drop the field ${name}`, none, { refusal })]
    }
    const list = field.kind === 'list' ? [`DROP TABLE ${collection.table}__${name}`] : []
    const key = field.hasKey ? [`ALTER TABLE ${table} DROP COLUMN ${quote(keyColumnOf({ name }))}`] : []
    return [
      change(
        `drop the field ${name}`,
        forBoth(() => [...list, `ALTER TABLE ${table} DROP COLUMN ${quote(name)}`, ...key]),
      ),
    ]
  })

  const others = fields.flatMap((field): SchemaChange[] => {
    const { name, definition } = field
    const is = current.fields[name] as SnapshotField
    const [was, from] = old.fields[name]
      ? [old.fields[name], name]
      : [old.fields[definition.options.was ?? ''], definition.options.was ?? '']
    if (!was) return [addField(field, collection, change)]
    const rename =
      from === name
        ? []
        : [
            change(
              `rename the field ${from} to ${name}`,
              forBoth(() => [
                `ALTER TABLE ${table} RENAME COLUMN ${quote(from)} TO ${quote(name)}`,
                ...(was.hasKey
                  ? [
                      `ALTER TABLE ${table} RENAME COLUMN ${quote(keyColumnOf({ name: from }))} TO ${quote(keyColumnOf({ name }))}`,
                    ]
                  : []),
                ...(was.kind === 'list'
                  ? [
                      `ALTER TABLE ${collection.table}__${from} RENAME TO ${collection.table}__${name}`,
                      ...renameListIndex(collection, from, name),
                    ]
                  : []),
              ]),
            ),
          ]
    return [...rename, ...changeField(field, { was, is }, collection, change)]
  })
  return [...dropped, ...others]
}

/** Index names are those of a table that was made new. */
function renameListIndex({ table }: Described, from: string, to: string): string[] {
  return [`DROP INDEX ${table}__${from}_rows`, `CREATE INDEX ${table}__${to}_rows ON ${table}__${to} (row_id)`]
}

type MakeChange = (text: string, statements: Record<Dialect, string[]>, more?: Partial<SchemaChange>) => SchemaChange

function addField(field: DescribedField, collection: Described, change: MakeChange): SchemaChange {
  const { name, kind, definition } = field
  const { options } = definition
  const table = quote(collection.table)
  const filling = 'backfill' in options ? options.backfill : isMarker(options.default) ? undefined : options.default
  const value = filling === undefined ? undefined : literal(toStoredValue(definition, filling))
  const add = (dialect: Dialect) => [
    ...columnsOf(collection, field, dialect).map((column) => `ALTER TABLE ${table} ADD COLUMN ${column}`),
    ...(value === undefined || kind === 'list' ? [] : [`UPDATE ${table} SET ${quote(name)} = ${value}`]),
    ...(kind === 'list' ? createListTable(collection, field, dialect) : []),
  ]
  const needsValue = !options.optional && kind !== 'list' && kind !== 'computed' && value === undefined
  const violations = {
    sql: `SELECT count(*) AS found FROM ${table}`,
    reason: `rows without a value for the new field "${name}": make it optional, or give it a \`default\` or a \`backfill\``,
  }
  return change(`add the field ${name}`, forBoth(add), { isAdditive: true, ...(needsValue && { violations }) })
}

function changeField(
  field: DescribedField,
  { was, is }: { was: SnapshotField; is: SnapshotField },
  collection: Described,
  change: MakeChange,
): SchemaChange[] {
  const { name, definition } = field
  const { options } = definition
  const table = quote(collection.table)
  const column = quote(name)
  if (was.kind !== is.kind || was.item !== is.item) {
    const refusal = `the field "${name}" cannot become ${is.kind}, because it is ${was.kind}: declare another field, and drop this one`
    return [
      change(
        `change the kind of ${name}`,
        forBoth(() => []),
        { refusal },
      ),
    ]
  }
  const changes: SchemaChange[] = []
  const backfill = 'backfill' in options ? literal(toStoredValue(definition, options.backfill)) : undefined
  /** What does not fit is filled, or must not be there. */
  const require = (text: string, misfit: string, reason: string) => {
    if (backfill !== undefined)
      changes.push(
        change(
          text,
          forBoth(() => [`UPDATE ${table} SET ${column} = ${backfill} WHERE ${misfit}`]),
        ),
      )
    else {
      const violations = {
        sql: `SELECT count(*) AS found FROM ${table} WHERE ${misfit}`,
        reason: `${reason}: change them, or give the field a \`backfill\``,
      }
      changes.push(
        change(
          text,
          forBoth(() => []),
          { violations },
        ),
      )
    }
  }
  if (was.optional && !is.optional)
    require(`require ${name}`, `${column} IS NULL`, `rows without a value for "${name}"`)
  if (is.kind === 'choice') {
    const removed = (was.values ?? []).filter((value) => !is.values?.includes(value))
    if (removed.length > 0) {
      require(`remove ${removed.join(', ')} from ${name}`, `${column} IN (${removed.map(literal).join(', ')})`, `rows whose "${name}" is ${removed.join(' or ')}`)
    }
  }
  if (['text', 'email', 'url'].includes(is.kind)) {
    if ((is.max as number) < (was.max as number))
      require(`shorten ${name}`, `length(${column}) > ${is.max}`, `texts of "${name}" that are longer`)
    if ((is.min ?? 0) > (was.min ?? 0))
      require(`lengthen ${name}`, `length(${column}) < ${is.min}`, `texts of "${name}" that are shorter`)
  }
  if (is.kind === 'integer' || is.kind === 'decimal') {
    const unit = 10 ** (is.scale ?? 0)
    if ((is.scale ?? 0) < (was.scale ?? 0)) {
      return [
        change(
          `change the scale of ${name}`,
          forBoth(() => []),
          { refusal: `the field "${name}" cannot have fewer decimals: they would be lost` },
        ),
      ]
    }
    if ((is.scale ?? 0) > (was.scale ?? 0)) {
      const by = 10 ** ((is.scale ?? 0) - (was.scale ?? 0))
      changes.push(
        change(
          `give ${name} more decimals`,
          forBoth(() => [`UPDATE ${table} SET ${column} = ${column} * ${by}`]),
        ),
      )
    }
    if (is.max !== undefined && is.max < (was.max ?? Number.POSITIVE_INFINITY))
      require(`limit ${name}`, `${column} > ${Math.round(is.max * unit)}`, `values of "${name}" that are greater`)
    if (is.min !== undefined && is.min > (was.min ?? Number.NEGATIVE_INFINITY))
      require(`limit ${name}`, `${column} < ${Math.round(is.min * unit)}`, `values of "${name}" that are less`)
  }
  if (is.hasKey && !was.hasKey) {
    const add = (dialect: Dialect) =>
      columnsOf(collection, field, dialect)
        .slice(1)
        .map((key) => `ALTER TABLE ${table} ADD COLUMN ${key}`)
    changes.push(change(`make ${name} sortable and searchable`, forBoth(add), { isAdditive: true }))
  }
  if (!is.hasKey && was.hasKey) {
    changes.push(
      change(
        `stop sorting and searching by ${name}`,
        forBoth(() => [`ALTER TABLE ${table} DROP COLUMN ${quote(keyColumnOf(field))}`]),
        { isAdditive: true },
      ),
    )
  }
  if (was.onDelete !== is.onDelete) {
    const refusal = `\`onDelete\` of "${name}" cannot be changed, because users are referred to by the table: declare another field, and drop this one`
    changes.push(
      change(
        `change what happens to ${name}`,
        forBoth(() => []),
        { refusal },
      ),
    )
  }
  return changes
}

function literal(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE'
  return `'${String(value).replaceAll("'", "''")}'`
}
