/** The tables of a collection, in the SQL of an engine. */
import type { Dialect } from '../../platform/database/database.ts'
import { type Described, type DescribedField, isOwnField, isStored } from '../declare/describe.ts'
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
    ...fields.map((field) => `${quote(field.name)} ${columnOf(field, dialect)}`),
    // The version grows with every change.
    `version ${typeOf('integer', dialect)} NOT NULL DEFAULT 1`,
    `created_at ${time} NOT NULL`,
    `updated_at ${time} NOT NULL`,
    `deleted_at ${time}`,
    // Who made the last change, and in which version: see change-log.ts.
    `changed_by ${typeOf('integer', dialect)}`,
    `changed_by_version ${typeOf('integer', dialect)}`,
  ]
  const lists = fields.filter(({ kind }) => kind === 'list')
  return [
    `CREATE TABLE ${quote(table)} (\n  ${columns.join(',\n  ')}\n)`,
    ...lists.flatMap((field) => createListTable(collection, field, dialect)),
  ]
}

function columnOf({ kind, definition }: DescribedField, dialect: Dialect): string {
  const { optional = false } = definition.options
  const type = typeOf(valueKindOf({ kind, definition }), dialect)
  if (kind === 'list') return `${type} NOT NULL DEFAULT '[]'`
  return optional || kind === 'computed' ? type : `${type} NOT NULL`
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

function typeOf(kind: Kind, dialect: Dialect): string {
  return columnTypes[dialect][kind] ?? (dialect === 'sqlite' ? 'TEXT' : 'TEXT COLLATE "C"')
}

/**
 * The column has the whole list, so that a row is read at once. A table has an entry for each item, by which lists are searched;
 * triggers keep it.
 */
function createListTable(collection: Described, field: DescribedField, dialect: Dialect): string[] {
  const { table } = collection
  const name = listTableOf(collection, field)
  const type = typeOf((field.definition.item as FieldDefinition).kind, dialect)
  const column = quote(field.name)
  const columns = `row_id ${typeOf('integer', dialect)} NOT NULL, value ${type} NOT NULL, PRIMARY KEY (value, row_id)`
  if (dialect === 'sqlite') {
    const add = `INSERT OR IGNORE INTO ${name} (row_id, value) SELECT new.id, value FROM json_each(new.${column});`
    return [
      `CREATE TABLE ${name} (${columns}) WITHOUT ROWID`,
      `CREATE INDEX ${name}_rows ON ${name} (row_id)`,
      `CREATE TRIGGER ${name}_added AFTER INSERT ON ${quote(table)} BEGIN ${add} END`,
      `CREATE TRIGGER ${name}_changed AFTER UPDATE OF ${column} ON ${quote(table)} WHEN old.${column} <> new.${column} BEGIN
        DELETE FROM ${name} WHERE row_id = old.id; ${add} END`,
      `CREATE TRIGGER ${name}_removed AFTER DELETE ON ${quote(table)} BEGIN DELETE FROM ${name} WHERE row_id = old.id; END`,
    ]
  }
  return [
    `CREATE TABLE ${name} (${columns})`,
    `CREATE INDEX ${name}_rows ON ${name} (row_id)`,
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
    `CREATE TRIGGER ${name}_kept AFTER INSERT OR DELETE OR UPDATE OF ${column} ON ${quote(table)}
      FOR EACH ROW EXECUTE FUNCTION keep_${name}()`,
  ]
}
