/**
 * The statements that write a row of a collection. The rules are conditions of the statement itself, so that nothing changes
 * between the check and the write: a statement that may not write returns no row.
 */
import type { Dialect, Statement, Value } from '../../platform/database/database.ts'
import { Params } from '../../platform/listing/list-params.ts'
import { type Described, type DescribedField, isOwnField } from '../declare/describe.ts'
import type { Action } from '../declare/rules.ts'
import { type Condition, type RuleSqlOptions, writeRule } from '../rules/sql.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { castTo, quote, storedFieldsOf } from '../schema/tables.ts'

/** By field, as they are stored. Fields that are not there stay as they are. */
export type StoredValues = Readonly<Record<string, Value>>

export interface Writer {
  /** Undefined: the service itself, which may do everything. */
  principal: RulePrincipal | undefined
  /** ISO 8601. */
  now: string
}

export interface RowVersion {
  id: number
  /** Null for any. */
  version: number | null
}

const alias = 'target'

/** Undefined if no row could be written, whatever is stored. */
export type WriteStatement = Statement | undefined

export function createStatements(collection: Described, dialect: Dialect) {
  const fields = new Map(storedFieldsOf(collection).map((field) => [field.name, field]))
  const time = fields.get('created_at') as DescribedField
  const table = quote(collection.table)
  const returned = [...fields.keys(), 'version'].map(quote).join(', ')

  function given(values: StoredValues, params: Params) {
    const parameters = new Map<string, string>()
    for (const [name, value] of Object.entries(values)) {
      const field = fields.get(name)
      if (field && !isOwnField(name)) parameters.set(name, castTo(field, params.add(value), dialect))
    }
    return parameters
  }

  function ruleOf(
    action: Action,
    { principal }: Writer,
    rest: Omit<RuleSqlOptions, 'dialect' | 'principal' | 'alias'>,
  ): Condition {
    const rule = collection.rules?.[action]
    if (!principal) return true
    return rule ? writeRule(rule, collection, { ...rest, dialect, principal, alias }) : false
  }

  /** Of a row that is there, and in this version. */
  function conditionsOf({ id, version }: RowVersion, params: Params): string[] {
    return [
      `${alias}.id = ${params.add(id)}`,
      ...(version === null ? [] : [`${alias}.version = ${params.add(version)}`]),
    ]
  }

  /** A new row has nothing but what it is given. */
  function newValues(parameters: ReadonlyMap<string, string>, at: string) {
    return (field: DescribedField) => {
      if (field.name === 'created_at' || field.name === 'updated_at') return at
      return parameters.get(field.name) ?? castTo(field, field.kind === 'list' ? "'[]'" : 'NULL', dialect)
    }
  }

  function editedBy({ principal }: Writer, at: string, params: Params): string {
    return `version = version + 1, updated_at = ${at}, changed_by = ${params.add(principal?.id ?? null)},
      changed_by_version = version + 1`
  }

  return {
    /** `values` has every field that needs one. */
    insert(values: StoredValues, writer: Writer): WriteStatement {
      const params = new Params()
      const parameters = given(values, params)
      const { principal, now } = writer
      const at = castTo(time, params.add(now), dialect)
      const rule = ruleOf('create', writer, { params, given: { side: 'row', parameterOf: newValues(parameters, at) } })
      if (rule === false) return undefined
      const columns = [...parameters.keys(), 'created_at', 'updated_at', 'changed_by'].map(quote).join(', ')
      const rowValues = [...parameters.values(), at, at, `CAST(${params.add(principal?.id ?? null)} AS BIGINT)`].join(
        ', ',
      )
      const into = `INSERT INTO ${table} (${columns})`
      return rule === true
        ? { sql: `${into} VALUES (${rowValues}) RETURNING ${returned}`, params: params.values, insertsOne: true }
        : { sql: `${into} SELECT ${rowValues} WHERE ${rule} RETURNING ${returned}`, params: params.values }
    },

    update(row: RowVersion, values: StoredValues, writer: Writer): WriteStatement {
      const params = new Params()
      const parameters = given(values, params)
      const changes = [...parameters].map(([name, parameter]) => `${quote(name)} = ${parameter}`)
      const at = castTo(time, params.add(writer.now), dialect)
      const edited = editedBy(writer, at, params)
      const conditions = conditionsOf(row, params)
      const parameterOf = ({ name }: DescribedField) => (name === 'updated_at' ? at : parameters.get(name))
      const rule = ruleOf('update', writer, { params, given: { side: 'after', parameterOf } })
      if (rule === false) return undefined
      const where = [...conditions, `${alias}.deleted_at IS NULL`, ...(rule === true ? [] : [rule])].join(' AND ')
      const sql = `UPDATE ${table} AS ${alias} SET ${[...changes, edited].join(', ')} WHERE ${where} RETURNING ${returned}`
      return { sql, params: params.values }
    },

    /** Can be restored. Returns the row as it was. */
    softDelete(row: RowVersion, writer: Writer): WriteStatement {
      const params = new Params()
      const at = castTo(time, params.add(writer.now), dialect)
      const edited = editedBy(writer, at, params)
      const conditions = conditionsOf(row, params)
      const rule = ruleOf('delete', writer, { params })
      if (rule === false) return undefined
      const where = [...conditions, `${alias}.deleted_at IS NULL`, ...(rule === true ? [] : [rule])].join(' AND ')
      const sql = `UPDATE ${table} AS ${alias} SET deleted_at = ${at}, ${edited} WHERE ${where} RETURNING ${returned}`
      return { sql, params: params.values }
    },

    /** Undoes a deletion since this time, for those who may delete the row. */
    restore(id: number, since: string, writer: Writer): WriteStatement {
      const params = new Params()
      const edited = editedBy(writer, castTo(time, params.add(writer.now), dialect), params)
      const conditions = conditionsOf({ id, version: null }, params)
      const rule = ruleOf('delete', writer, { params })
      if (rule === false) return undefined
      const where = [...conditions, `${alias}.deleted_at > ${params.add(since)}`, ...(rule === true ? [] : [rule])]
      const sql = `UPDATE ${table} AS ${alias} SET deleted_at = NULL, ${edited} WHERE ${where.join(' AND ')} RETURNING ${returned}`
      return { sql, params: params.values }
    },

    /** Finds a row that the reader may read. */
    find(id: number, principal: RulePrincipal | undefined, now: string): WriteStatement {
      const params = new Params()
      const conditions = conditionsOf({ id, version: null }, params)
      const rule = ruleOf('read', { principal, now }, { params })
      if (rule === false) return undefined
      const where = [...conditions, `${alias}.deleted_at IS NULL`, ...(rule === true ? [] : [rule])].join(' AND ')
      return { sql: `SELECT ${returned} FROM ${table} AS ${alias} WHERE ${where}`, params: params.values }
    },
  }
}

export type CollectionStatements = ReturnType<typeof createStatements>
