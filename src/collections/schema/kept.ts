/**
 * Columns that nodes of the previous release still use, while new ones are served beside them. Where a field took the place of
 * another one (`was`), triggers keep both in step until `gone` names the old one.
 */
import type { Dialect } from '../../platform/database/database.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import type { FieldDefinition, Kind } from '../declare/fields.ts'
import type { SnapshotCollection, SnapshotField } from './snapshot.ts'
import { hasKey, keyColumnOf, quote } from './tables.ts'

export interface KeptField {
  /** As far as triggers have to know it. */
  field: DescribedField
  successor: DescribedField | undefined
  was: SnapshotField
}

export function keptFieldsOf(collection: Described, old: SnapshotCollection['fields'] = {}): KeptField[] {
  return [...collection.kept].sort().flatMap((name) => {
    const was = old[name]
    if (!was || collection.fields.has(name)) return []
    const renamed = [...collection.fields.values()].find(({ definition }) => definition.options.was === name)
    const successor = renamed ?? collection.fields.get(was.successor ?? '')
    const field = { name, kind: was.kind as Kind, definition: definitionOf(was), target: undefined }
    return [{ field, successor, was }]
  })
}

function definitionOf({ kind, item }: SnapshotField): FieldDefinition {
  return { kind: kind as Kind, options: {}, ...(item && { item: definitionOf(item) }) }
}

/** The columns that have the same values: of the field, and of its texts in lower case. */
function pairsOf({ field, successor }: KeptField, collection: Described): [old: string, now: string][] {
  if (!successor) return []
  return [
    [field.name, successor.name],
    ...(hasKey(successor, collection) ? [[field, successor].map(keyColumnOf) as [string, string]] : []),
  ].map((pair) => pair.map(quote) as [string, string])
}

/** Fills the column of a field with the values of the one that it takes the place of. */
export function copyKept(kept: KeptField, collection: Described, dialect: Dialect): string {
  const pairs = pairsOf(kept, collection)
  const differ = dialect === 'sqlite' ? 'IS NOT' : 'IS DISTINCT FROM'
  const set = pairs.map(([old, now]) => `${now} = ${old}`).join(', ')
  const where = pairs.map(([old, now]) => `${now} ${differ} ${old}`).join(' OR ')
  return `${dialect === 'postgres' ? '-- in steps\n' : ''}UPDATE ${quote(collection.table)} SET ${set}\nWHERE ${where}`
}

/**
 * On PostgreSQL, nodes of both releases write: whoever changes one of the columns changes the other. On SQLite there is one
 * process, and the old column only follows.
 */
export function createStepTriggers(collection: Described, kept: readonly KeptField[], dialect: Dialect): string[] {
  const { table } = collection
  const inStep = kept.filter(({ successor }) => successor)
  if (inStep.length === 0) return []
  if (dialect === 'sqlite') {
    const pairs = inStep.flatMap((each) => pairsOf(each, collection))
    const set = pairs.map(([old, now]) => `${old} = new.${now}`).join(', ')
    const follow = `BEGIN UPDATE ${quote(table)} SET ${set} WHERE id = new.id; END`
    return [
      `CREATE TRIGGER ${table}_added_in_step AFTER INSERT ON ${quote(table)} ${follow}`,
      `CREATE TRIGGER ${table}_changed_in_step AFTER UPDATE OF ${pairs.map(([, now]) => now).join(', ')} ON ${quote(table)} ${follow}`,
    ]
  }
  const steps = inStep.map((each) => {
    const pairs = pairsOf(each, collection)
    const [[old, now] = ['', '']] = pairs
    const copy = (from: 0 | 1) => pairs.map((pair) => `NEW.${pair[1 - from]} := NEW.${pair[from]};`).join(' ')
    const isEmpty = each.field.kind === 'list' ? `= '[]'` : 'IS NULL'
    return `IF TG_OP = 'INSERT' THEN
        IF NEW.${now} ${isEmpty} THEN ${copy(0)} ELSE ${copy(1)} END IF;
      ELSIF NEW.${now} IS DISTINCT FROM OLD.${now} THEN ${copy(1)}
      ELSIF NEW.${old} IS DISTINCT FROM OLD.${old} THEN ${copy(0)}
      END IF;`
  })
  return [
    `CREATE FUNCTION ${table}_in_step() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${steps.join('\n      ')}
      RETURN NEW;
    END $$`,
    `CREATE TRIGGER ${table}_in_step BEFORE INSERT OR UPDATE ON ${quote(table)}
      FOR EACH ROW EXECUTE FUNCTION ${table}_in_step()`,
  ]
}

export function dropStepTriggers(table: string, dialect: Dialect): string[] {
  if (dialect === 'postgres') return [`DROP FUNCTION IF EXISTS ${table}_in_step() CASCADE`]
  return ['added', 'changed'].map((name) => `DROP TRIGGER IF EXISTS ${table}_${name}_in_step`)
}

/** Why a field cannot take the place of one that stays for now; undefined if it can. */
export function refuseSuccessor(field: DescribedField, was: SnapshotField, is: SnapshotField): string | undefined {
  const kindOf = ({ kind, item, target, scale, onDelete = 'refuse' }: SnapshotField) =>
    JSON.stringify([kind, item?.kind, item?.scale, target, scale, onDelete])
  const name = field.definition.options.was
  const reason = `the field "${field.name}" cannot take the place of "${name}" while that is kept`
  if (kindOf(was) !== kindOf(is)) return `${reason}: it must be of the same kind`
  if (was.hasKey !== is.hasKey) return `${reason}: it must be sorted and searched by as "${name}" was`
  return undefined
}
