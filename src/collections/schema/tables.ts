/** The tables of a collection, in the SQL of an engine. */
import { hash } from 'node:crypto'
import { lowerByCodePoint } from '../../core/text.ts'
import type { Dialect } from '../../platform/database/database.ts'
import {
  comparedTypeOf,
  type Described,
  type DescribedField,
  isOwnField,
  isStored,
  valuesOf,
} from '../declare/describe.ts'
import type { FieldDefinition, Kind } from '../declare/fields.ts'

/** Text is ordered by code points on both engines, whatever the locale of a server. */
const columnTypes: Readonly<Record<Dialect, Partial<Record<Kind, string>>>> = {
  sqlite: { integer: 'INTEGER', decimal: 'INTEGER', belongsTo: 'INTEGER', boolean: 'BOOLEAN' },
  postgres: {
    integer: 'BIGINT',
    decimal: 'BIGINT',
    belongsTo: 'BIGINT',
    boolean: 'BOOLEAN',
    time: 'TIMESTAMPTZ(3)',
    json: 'TEXT',
    list: 'TEXT',
  },
}

const identities: Readonly<Record<Dialect, string>> = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgres: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
}

export function quote(name: string): string {
  return `"${name}"`
}

/** The table that has an entry for each item of a list, by which lists are searched. */
export function listTableOf({ table }: Described, { name }: DescribedField): string {
  return `${table}__${name}`
}

/** Of requests with an idempotency key. */
export const keyTable = 'collection_requests'

/** What the database knows of collections from the last start. */
export const stateTable = 'collection_states'

/** Texts are searched and sorted by a column in lower case, which the service writes. */
export function keyColumnOf({ name }: Pick<DescribedField, 'name'>): string {
  return `${name}__key`
}

export function keyOf(value: unknown): string | null {
  return typeof value === 'string' ? lowerByCodePoint(value) : null
}

export function hasKey(field: DescribedField, { lists }: Described): boolean {
  const isText = ['text', 'email', 'url'].includes(valuesOf(field.definition).kind) && field.kind !== 'list'
  return isText && [...lists.sort, ...lists.search].includes(field.name)
}

/** The fields that have a column. */
export function storedFieldsOf({ fields }: Described): DescribedField[] {
  return [...fields.values()].filter(isStored)
}

export function createTables(collection: Described, dialect: Dialect): string[] {
  const { table } = collection
  const fields = storedFieldsOf(collection).filter(({ name }) => !isOwnField(name))
  const time = typeOf('time', dialect)
  const columns = [
    `id ${identities[dialect]}`,
    ...fields.flatMap((field) => columnsOf(collection, field, dialect)),
    // The version grows with every change.
    `version ${typeOf('integer', dialect)} NOT NULL DEFAULT 1`,
    `created_at ${time} NOT NULL`,
    `updated_at ${time} NOT NULL`,
    `deleted_at ${time}`,
    // Rows that are deleted together are restored together.
    `deleted_with ${typeOf('text', dialect)}`,
    // Who made the last change, and in which version: see change-log.ts.
    `changed_by ${typeOf('integer', dialect)}`,
    `changed_by_version ${typeOf('integer', dialect)}`,
    // By which session or API key.
    `changed_via ${typeOf('text', dialect)}`,
  ]
  const lists = fields.filter(({ kind }) => kind === 'list')
  return [
    `CREATE TABLE ${quote(table)} (\n  ${columns.join(',\n  ')}\n)`,
    ...lists.flatMap((field) => createListTable(collection, field, dialect)),
    ...indexesOf(collection, dialect).map(createIndex),
    ...lists.flatMap((field) => createListTriggers(collection, field, dialect)),
  ]
}

/** The columns of a field, with their types. */
export function columnsOf(collection: Described, field: DescribedField, dialect: Dialect): string[] {
  const key = hasKey(field, collection) ? [`${quote(keyColumnOf(field))} ${typeOf('text', dialect)}`] : []
  return [`${quote(field.name)} ${columnOf(field, dialect)}`, ...key]
}

/** Which fields need a value, the service checks: so that becoming optional or required changes no table. */
function columnOf(field: DescribedField, dialect: Dialect): string {
  const { kind, definition, target } = field
  const type = typeOf(valueKindOf({ kind, definition }), dialect)
  if (kind === 'list') return `${type} NOT NULL DEFAULT '[]'`
  // Users are not kept when they are deleted. Rows of collections are, so triggers and rules take the place of references.
  const references = kind === 'belongsTo' && !target?.rules ? ` REFERENCES users (id)${onDeleteOf(field)}` : ''
  return `${type}${references}`
}

function onDeleteOf({ definition }: DescribedField): string {
  const { onDelete } = definition.options
  return onDelete === 'clear' ? ' ON DELETE SET NULL' : onDelete === 'delete' ? ' ON DELETE CASCADE' : ''
}

/** PostgreSQL cuts names off after 63 characters. */
const maxNameLength = 63

export function indexName({ table }: Described, suffix: string): string {
  const name = `${table}__${suffix}`
  return name.length <= maxNameLength ? name : `${name.slice(0, 50)}_${hash('sha1', name, 'hex').slice(0, 12)}`
}

/** What a list is sorted by: texts in lower case, and null before everything else. */
export function sortExpression(collection: Described, field: DescribedField, dialect: Dialect): string {
  if (isOwnField(field.name)) return field.name
  if (hasKey(field, collection)) return `COALESCE(${quote(keyColumnOf(field))}, '')`
  return `COALESCE(${quote(field.name)}, ${leastOf(field, dialect)})`
}

/** As a literal: less than what a field can be, or the same. */
function leastOf(field: DescribedField, dialect: Dialect): string {
  const type = comparedTypeOf(field)
  if (type === 'text' || type === 'day') return "''"
  if (type === 'time') return dialect === 'sqlite' ? `'${firstTime}'` : `TIMESTAMPTZ '${firstTime}'`
  return type === 'boolean' ? 'FALSE' : String(Number.MIN_SAFE_INTEGER)
}

export const firstTime = '0001-01-01T00:00:00.000Z'

const live = 'deleted_at IS NULL'

export interface Index {
  name: string
  /** What follows its name. */
  definition: string
  isUnique: boolean
}

/** Whether an index finds rows by the values of a field. */
export function isFoundByIndex({ name, kind }: Pick<DescribedField, 'name' | 'kind'>, { lists }: Described): boolean {
  return name === 'id' || kind === 'belongsTo' || (kind !== 'list' && lists.filter.includes(name))
}

/** The indexes of the table itself; list tables bring their own. */
export function indexesOf(collection: Described, dialect: Dialect): Index[] {
  const { table, lists, fields } = collection
  const on = (columns: string, where = live) => `ON ${quote(table)} (${columns}) WHERE ${where}`
  const stored = storedFieldsOf(collection)
  const sorted = lists.sort.filter((name) => name !== 'id').map((name) => fields.get(name) as DescribedField)
  const found = stored.filter((field) => isFoundByIndex(field, collection) && field.name !== 'id')
  const all: Index[] = [
    { name: indexName(collection, 'live'), definition: on('id'), isUnique: false },
    {
      name: indexName(collection, 'deleted'),
      definition: on('deleted_at', 'deleted_at IS NOT NULL'),
      isUnique: false,
    },
    {
      name: indexName(collection, 'deleted_with'),
      definition: on('deleted_with', 'deleted_with IS NOT NULL'),
      isUnique: false,
    },
    ...sorted.map((field) => ({
      name: indexName(collection, `${field.name}_sorted`),
      definition: on(`${sortExpression(collection, field, dialect)}, id`),
      isUnique: false,
    })),
    ...found.map((field) => ({
      name: indexName(collection, `${field.name}_found`),
      definition: on(`${quote(field.name)}, id`),
      isUnique: false,
    })),
    ...stored.flatMap(({ name, definition: { options } }) => {
      const { unique, uniqueWithin } = options
      if (!unique && uniqueWithin === undefined) return []
      const columns = [...(uniqueWithin === undefined ? [] : [uniqueWithin]), name].map(quote).join(', ')
      return [{ name: indexName(collection, `${name}_unique`), definition: on(columns), isUnique: true }]
    }),
  ]
  const texts = all.map(({ definition }) => definition)
  return all.filter(({ definition }, i) => texts.indexOf(definition) === i || all[i]?.isUnique)
}

export function createIndex({ name, definition, isUnique }: Index): string {
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${name} ${definition}`
}

/** The kind of a field's values; of a stored computation, that of its result. */
export function valueKindOf({ kind, definition }: Pick<DescribedField, 'kind' | 'definition'>): Kind {
  return definition.computed?.type.kind ?? kind
}

/** A parameter as a value of the field's type, which PostgreSQL would otherwise guess. */
export function castTo(field: DescribedField, parameter: string, dialect: Dialect): string {
  const [type = '', collation] = typeOf(valueKindOf(field), dialect).split(' COLLATE ')
  const cast = `CAST(${parameter} AS ${type})`
  return collation ? `${cast} COLLATE ${collation}` : cast
}

/** The type of a list's items, without its order. */
export function itemTypeOf({ definition }: DescribedField, dialect: Dialect): string {
  return typeOf((definition.item as FieldDefinition).kind, dialect).split(' ')[0] as string
}

export function typeOf(kind: Kind, dialect: Dialect): string {
  return columnTypes[dialect][kind] ?? (dialect === 'sqlite' ? 'TEXT' : 'TEXT COLLATE "C"')
}

/**
 * The column has the whole list, so that a row is read at once. A table has an entry for each item, by which lists are searched;
 * triggers keep it.
 */
export function createListTable(collection: Described, field: DescribedField, dialect: Dialect): string[] {
  const name = listTableOf(collection, field)
  const type = typeOf((field.definition.item as FieldDefinition).kind, dialect)
  const columns = `row_id ${typeOf('integer', dialect)} NOT NULL, value ${type} NOT NULL, PRIMARY KEY (value, row_id)`
  return [
    `CREATE TABLE ${name} (${columns})${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    `CREATE INDEX ${name}_rows ON ${name} (row_id)`,
  ]
}

/** `changing` has the columns that change the list. */
export function createListTriggers(
  collection: Described,
  field: DescribedField,
  dialect: Dialect,
  changing: readonly string[] = [field.name],
): string[] {
  const { table } = collection
  const name = listTableOf(collection, field)
  const column = quote(field.name)
  if (dialect === 'sqlite') {
    const add = `INSERT OR IGNORE INTO ${name} (row_id, value) SELECT new.id, value FROM json_each(new.${column});`
    return [
      `CREATE TRIGGER ${name}_added AFTER INSERT ON ${quote(table)} BEGIN ${add} END`,
      `CREATE TRIGGER ${name}_changed AFTER UPDATE OF ${column} ON ${quote(table)} WHEN old.${column} <> new.${column} BEGIN
        DELETE FROM ${name} WHERE row_id = old.id; ${add} END`,
      `CREATE TRIGGER ${name}_removed AFTER DELETE ON ${quote(table)} BEGIN DELETE FROM ${name} WHERE row_id = old.id; END`,
    ]
  }
  return [
    `CREATE FUNCTION keep_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        DELETE FROM ${name} WHERE row_id = OLD.id;
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO ${name} (row_id, value)
          SELECT NEW.id, CAST(item AS ${itemTypeOf(field, dialect)}) FROM json_array_elements_text(CAST(NEW.${column} AS JSON)) AS item
          ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER ${name}_kept AFTER INSERT OR DELETE OR UPDATE OF ${changing.map(quote).join(', ')} ON ${quote(table)}
      FOR EACH ROW EXECUTE FUNCTION keep_${name}()`,
  ]
}
