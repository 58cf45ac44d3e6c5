/**
 * The triggers that write each change of a row to the change log, whoever makes it: also a statement of a database shell, which
 * knows nothing of versions and editors.
 */
import type { Dialect } from '../../platform/database/database.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import type { KeptField } from './kept.ts'
import { quote, storedFieldsOf, valueKindOf } from './tables.ts'

type Entry = 'created' | 'updated' | 'deleted' | 'restored'
type Values = [name: string, value: string][]

/** Entries have the fields that are kept as well, because nodes of the previous release read them. */
export function createLogTriggers(collection: Described, dialect: Dialect, kept: readonly KeptField[] = []): string[] {
  const logged = { ...collection, fields: withKept(collection, kept) }
  return dialect === 'sqlite' ? sqliteTriggers(logged) : postgresTriggers(logged)
}

function withKept({ fields }: Described, kept: readonly KeptField[]): Map<string, LoggedField> {
  const added = kept.map(({ field, successor }): [string, LoggedField] => [
    field.name,
    { ...field, ...(successor && { column: successor.name }) },
  ])
  return new Map([...fields, ...added])
}

/** Its value is that of another column, which is the same. */
type LoggedField = DescribedField & { column?: string }

const columnOf = ({ name, column = name }: LoggedField) => quote(column)

function typeOf({ singular }: Described, entry: Entry): string {
  return `'${singular}.${entry}'`
}

/** What an entry has besides the row: the values before the change, of the fields that it has changed. No field has this name. */
export const formerValues = '_was'

/** By name: the triggers are the same in whatever order fields are declared. */
function fieldsOf(collection: Described): LoggedField[] {
  return storedFieldsOf(collection).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The row as JSON, with the same text on both engines but for spaces. */
function rowAsJson(collection: Described, from: 'new' | 'old' | 'added', dialect: Dialect, more: Values = []): string {
  const fields = fieldsOf(collection).filter(({ name }) => !['created_at', 'updated_at'].includes(name))
  const values: Values = [
    ...fields.map((field): [string, string] => [field.name, valueAsJson(field, from, dialect)]),
    ['version', `${from}.version`],
    ...['created_at', 'updated_at'].map((name): [string, string] => [name, timeAsJson(`${from}.${name}`, dialect)]),
    ...more,
  ]
  if (dialect === 'sqlite') return `json_object(${values.map(([name, value]) => `'${name}', ${value}`).join(', ')})`
  // Not json_build_object, which takes a hundred arguments at most.
  const columns = values.map(([name, value]) => `${value} AS ${quote(name)}`).join(', ')
  return `(SELECT row_to_json(entry) FROM (SELECT ${columns}) AS entry)`
}

function formerValuesAsJson(collection: Described, dialect: Dialect): string {
  const fields = fieldsOf(collection).filter(({ name }) => name !== 'updated_at')
  const [toJson, differ] = dialect === 'sqlite' ? ['json_quote', 'IS NOT'] : ['to_json', 'IS DISTINCT FROM']
  const changed = fields.map((field) => {
    const column = columnOf(field)
    return `SELECT CAST('${field.name}' AS TEXT) AS name, ${toJson}(${valueAsJson(field, 'old', dialect)}) AS value
      WHERE old.${column} ${differ} new.${column}`
  })
  const from = `FROM (${changed.join(' UNION ALL ')}) AS changed`
  return dialect === 'sqlite'
    ? `json((SELECT json_group_object(name, json(value)) ${from}))`
    : `(SELECT COALESCE(json_object_agg(name, value), '{}') ${from})`
}

/** What the service calculates from other columns is no change by itself. */
function loggedColumnsOf(collection: Described, dialect: Dialect): string {
  // On SQLite, a kept column only follows the one that took its place.
  const follows = ({ column }: LoggedField) => dialect === 'sqlite' && column !== undefined
  const fields = fieldsOf(collection).filter((field) => field.kind !== 'computed' && !follows(field))
  const own = ['version', 'deleted_at', 'changed_by', 'changed_by_version', 'changed_via']
  return [...fields.map(({ name }) => name), ...own].map(quote).join(', ')
}

/** Lists and JSON are stored as text; SQLite stores booleans as numbers. */
function valueAsJson(field: LoggedField, from: string, dialect: Dialect): string {
  const column = `${from}.${columnOf(field)}`
  const kind = valueKindOf(field)
  if (kind === 'time') return timeAsJson(column, dialect)
  if (kind === 'list' || kind === 'json') return dialect === 'sqlite' ? `json(${column})` : `CAST(${column} AS JSON)`
  if (kind === 'boolean' && dialect === 'sqlite') {
    return `json(CASE ${column} WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' ELSE 'null' END)`
  }
  return column
}

function timeAsJson(column: string, dialect: Dialect): string {
  return dialect === 'sqlite' ? column : `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

const logColumns = '(topic, type, entity_id, actor_id, actor_via, at, data)'
const sqliteNow = "strftime('%Y-%m-%dT%H:%M:%fZ')"

function sqliteTriggers(collection: Described): string[] {
  const { table, name } = collection
  const [before, now] = (['old', 'new'] as const).map((each) => rowAsJson(collection, each, 'sqlite'))
  const former = formerValuesAsJson(collection, 'sqlite')
  const changed = rowAsJson(collection, 'new', 'sqlite', [[formerValues, former]])
  const columns = loggedColumnsOf(collection, 'sqlite')
  const log = (type: string, from: 'new' | 'old', { actor, at }: { actor: string; at: string }, data = now) =>
    `INSERT INTO changes ${logColumns} VALUES ('${name}', ${type}, ${from}.id, ${actor}, ${at}, ${data});`
  const by = (column: string, condition: string) => `CASE WHEN ${condition} THEN new.${column} END`
  const bothBy = (condition: string) => `${by('changed_by', condition)}, ${by('changed_via', condition)}`
  // A statement that does not know the column leaves it at an earlier version.
  const editor = bothBy('new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by')
  const updated = `CASE WHEN old.deleted_at IS NULL THEN ${typeOf(collection, 'updated')} ELSE ${typeOf(collection, 'restored')} END`
  return [
    `CREATE TRIGGER ${table}_logged AFTER INSERT ON ${quote(table)} WHEN new.deleted_at IS NULL BEGIN
      ${log(typeOf(collection, 'created'), 'new', { actor: 'new.changed_by, new.changed_via', at: 'new.created_at' })}
    END`,
    // The change that gives the row its version is the one that is logged, with what this one has changed.
    `CREATE TRIGGER ${table}_versioned AFTER UPDATE OF ${columns} ON ${quote(table)}
    WHEN new.version <= old.version BEGIN
      UPDATE ${quote(table)} SET version = old.version + 1,
        updated_at = CASE WHEN new.updated_at IS old.updated_at THEN ${sqliteNow} ELSE new.updated_at END,
        changed_by_version = CASE WHEN new.changed_by IS old.changed_by THEN new.changed_by_version ELSE old.version + 1 END
        WHERE id = new.id;
      UPDATE changes SET type = ${updated}, data = json_set(data, '$.${formerValues}', ${former})
        WHERE id = (SELECT max(id) FROM changes) AND new.deleted_at IS NULL;
    END`,
    `CREATE TRIGGER ${table}_change_logged AFTER UPDATE OF ${columns} ON ${quote(table)}
    WHEN new.deleted_at IS NULL AND new.version > old.version BEGIN
      ${log(updated, 'new', { actor: editor, at: 'new.updated_at' }, changed)}
    END`,
    // As it last was.
    `CREATE TRIGGER ${table}_deletion_logged AFTER UPDATE OF deleted_at ON ${quote(table)}
    WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL BEGIN
      ${log(
        typeOf(collection, 'deleted'),
        'old',
        {
          actor: bothBy(
            'new.version > old.version AND new.changed_by_version = new.version OR new.changed_by IS NOT old.changed_by',
          ),
          at: `CASE WHEN new.version <= old.version AND new.updated_at IS old.updated_at THEN ${sqliteNow} ELSE new.updated_at END`,
        },
        before,
      )}
    END`,
    `CREATE TRIGGER ${table}_removal_logged AFTER DELETE ON ${quote(table)} WHEN old.deleted_at IS NULL BEGIN
      ${log(typeOf(collection, 'deleted'), 'old', { actor: 'NULL, NULL', at: sqliteNow }, before)}
    END`,
  ]
}

function postgresTriggers(collection: Described): string[] {
  const { table, name } = collection
  const [before, added] = (['old', 'added'] as const).map((each) => rowAsJson(collection, each, 'postgres'))
  const changed = rowAsJson(collection, 'new', 'postgres', [[formerValues, formerValuesAsJson(collection, 'postgres')]])
  const columns = loggedColumnsOf(collection, 'postgres')
  const insert = `INSERT INTO changes ${logColumns}`
  const by = (column: string) =>
    `CASE WHEN NEW.changed_by_version = NEW.version OR NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN NEW.${column} END`
  const editor = `${by('changed_by')}, ${by('changed_via')}`
  const updated = `CASE WHEN OLD.deleted_at IS NULL THEN ${typeOf(collection, 'updated')} ELSE ${typeOf(collection, 'restored')} END`
  const functionOf = (suffix: string, body: string) =>
    `CREATE FUNCTION ${table}_${suffix}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${body}
    END $$`
  return [
    // Once for all rows of a statement.
    functionOf(
      'log_created',
      `${insert} SELECT '${name}', ${typeOf(collection, 'created')}, added.id, added.changed_by, added.changed_via, added.created_at, ${added}
        FROM new_rows AS added WHERE added.deleted_at IS NULL ORDER BY added.id;
      RETURN NULL;`,
    ),
    `CREATE TRIGGER ${table}_logged AFTER INSERT ON ${quote(table)}
      REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION ${table}_log_created()`,
    functionOf(
      'add_version',
      `NEW.version := OLD.version + 1;
      IF NEW.updated_at IS NOT DISTINCT FROM OLD.updated_at THEN
        NEW.updated_at := now();
      END IF;
      IF NEW.changed_by IS DISTINCT FROM OLD.changed_by THEN
        NEW.changed_by_version := NEW.version;
      END IF;
      RETURN NEW;`,
    ),
    `CREATE TRIGGER ${table}_versioned BEFORE UPDATE OF ${columns} ON ${quote(table)}
      FOR EACH ROW WHEN (NEW.version <= OLD.version) EXECUTE FUNCTION ${table}_add_version()`,
    functionOf(
      'log_change',
      `${insert} VALUES ('${name}', ${updated}, NEW.id, ${editor}, NEW.updated_at, ${changed});
      RETURN NULL;`,
    ),
    `CREATE TRIGGER ${table}_change_logged AFTER UPDATE OF ${columns} ON ${quote(table)}
      FOR EACH ROW WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION ${table}_log_change()`,
    // As it last was.
    functionOf(
      'log_deletion',
      `${insert} VALUES ('${name}', ${typeOf(collection, 'deleted')}, OLD.id, ${editor}, NEW.updated_at, ${before});
      RETURN NULL;`,
    ),
    `CREATE TRIGGER ${table}_deletion_logged AFTER UPDATE ON ${quote(table)}
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION ${table}_log_deletion()`,
    functionOf(
      'log_removal',
      `${insert} VALUES ('${name}', ${typeOf(collection, 'deleted')}, OLD.id, NULL, NULL, now(), ${before});
      RETURN NULL;`,
    ),
    `CREATE TRIGGER ${table}_removal_logged AFTER DELETE ON ${quote(table)}
      FOR EACH ROW WHEN (OLD.deleted_at IS NULL) EXECUTE FUNCTION ${table}_log_removal()`,
  ]
}
