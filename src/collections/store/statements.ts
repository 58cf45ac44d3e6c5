/**
 * The statements that read and write rows of a collection. What must hold is a condition of the statement itself, so that
 * nothing changes between the check and the write: a statement that may not write returns no row. Which condition did not
 * hold, a second statement tells.
 */
import type { Dialect, Statement, Value } from '../../platform/database/database.ts'
import { Params } from '../../platform/listing/list-params.ts'
import { type Described, type DescribedField, isOwnField } from '../declare/describe.ts'
import type { Rule } from '../declare/rules.ts'
import { type Condition, itemsOf, type RuleSqlOptions, writeRule } from '../rules/sql.ts'
import type { RulePrincipal } from '../rules/values.ts'
import { createOutcomes } from '../rules/values.ts'
import { castTo, hasKey, keyColumnOf, keyOf, quote, storedFieldsOf } from '../schema/tables.ts'

/** By field, as they are stored. Fields that are not there stay as they are. */
export type StoredValues = Readonly<Record<string, Value>>

export interface Writer {
  /** Undefined: the service itself, which may do everything. */
  principal: RulePrincipal | undefined
  /** The session or API key. */
  via?: string | null
  /** ISO 8601. */
  now: string
}

export interface RowVersion {
  id: number
  /** Null for any. */
  version: number | null
}

/** Why a statement wrote nothing. */
export interface Failure {
  kind: 'rule' | 'check' | 'missing' | 'unwritable'
  /** Of `missing` and `unwritable`. */
  field?: string
}

interface Check extends Failure {
  condition: Condition
}

/** What a row is checked for when it is written. */
export interface Writing {
  values: StoredValues
  /** Relations that the client names have to be there. By default all. */
  related?: readonly string[]
  /** Fields whose `writable` has to allow the change. By default none. */
  guarded?: readonly string[]
}

const alias = 'target'

/** In place of the id and the user, in statements that are written once. No row has them. */
const [idMark, meMark] = [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER + 1]

/** Undefined if no row could be written, whatever is stored. */
export type WriteStatement = Statement | undefined

export function createStatements(collection: Described, dialect: Dialect) {
  const fields = new Map(storedFieldsOf(collection).map((field) => [field.name, field]))
  const time = fields.get('created_at') as DescribedField
  const table = quote(collection.table)
  const returned = [...fields.keys(), 'version'].map(quote).join(', ')
  const guarded = [...collection.fields.values()].flatMap(({ name, definition: { options } }) =>
    options.readable ? [{ name, readable: options.readable }] : [],
  )
  const readRules = [collection.rules?.read, ...guarded.map(({ readable }) => readable)]
  const outcomeOf = createOutcomes(readRules, collection)
  const finds = new Map<string, { sql: string; params: readonly Value[] } | null>()

  function given({ values }: Writing, params: Params) {
    const parameters = new Map<string, string>()
    const keys: [column: string, parameter: string][] = []
    for (const [name, value] of Object.entries(values)) {
      const field = fields.get(name)
      if (!field || isOwnField(name)) continue
      parameters.set(name, castTo(field, params.add(value), dialect))
      if (hasKey(field, collection)) keys.push([keyColumnOf(field), castTo(field, params.add(keyOf(value)), dialect)])
    }
    return { parameters, columns: [...parameters, ...keys] as readonly [column: string, parameter: string][] }
  }

  function ruleOf(rule: Rule | undefined, { principal }: Pick<Writer, 'principal'>, rest: RestOfRule): Condition {
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

  /** What the writer may not read is not there, whatever else they may do. */
  function foundBy(row: RowVersion, writer: Writer, params: Params): Condition[] {
    return [...conditionsOf(row, params), ruleOf(collection.rules?.read, writer, { params })]
  }

  /** A new row has nothing but what it is given. */
  function newValues(parameters: Place['parameters'], at: () => string) {
    return (field: DescribedField) => {
      if (field.name === 'created_at' || field.name === 'updated_at') return at()
      return parameters.get(field.name) ?? castTo(field, field.kind === 'list' ? "'[]'" : 'NULL', dialect)
    }
  }

  /** Whether the related rows are there, and may be read. */
  function writeRelated(field: DescribedField, parameter: string, writer: Writer, params: Params): Condition {
    const value = field.kind === 'list' ? 'value' : parameter
    const related = existing(field, value, writer, params)
    if (field.kind !== 'list') return `(${parameter} IS NULL OR ${related})`
    return `NOT EXISTS (SELECT 1 FROM ${itemsOf(parameter, field, dialect)} WHERE NOT ${related})`
  }

  function existing(
    { target }: DescribedField,
    value: string,
    { principal }: Pick<Writer, 'principal'>,
    params: Params,
  ): string {
    const related = target as Described
    const rule = related.rules?.read
    const nested =
      principal && rule
        ? writeRule(rule, related, { dialect, principal, params, alias: 'related' })
        : related.rules === undefined || !principal
    if (nested === false) return 'FALSE'
    const live = related.rules ? ' AND related.deleted_at IS NULL' : ''
    return `EXISTS (SELECT 1 FROM ${quote(related.table)} related
      WHERE related.id = ${value}${live}${nested === true ? '' : ` AND ${nested}`})`
  }

  function checksOf(writing: Writing, action: 'create' | 'update', { writer, params, at, parameters }: Place): Check[] {
    const isNew = action === 'create'
    const parameterOf = isNew
      ? newValues(parameters, at)
      : ({ name }: DescribedField) => (name === 'updated_at' ? at() : parameters.get(name))
    const { related = [...parameters.keys()], guarded = [] } = writing
    /** In an update, a value that stays as it is needs no permission. */
    const unlessSame = (name: string, condition: Condition, isSeen: Condition = true): Condition => {
      if (isNew || condition === true || isSeen === false) return condition
      const same = `${alias}.${quote(name)} IS NOT DISTINCT FROM ${parameters.get(name)}`
      return `(${isSeen === true ? same : `(${same} AND ${isSeen})`}${condition === false ? '' : ` OR ${condition}`})`
    }
    const relations = related.filter((name) => fields.get(name)?.target && parameters.has(name))
    return [
      ...relations.map((name): Check => {
        const field = fields.get(name) as DescribedField
        const found = writeRelated(field, parameters.get(name) as string, writer, params)
        return { kind: 'missing', field: name, condition: unlessSame(name, found) }
      }),
      ...(collection.check
        ? [
            {
              kind: 'check' as const,
              condition: writeCheck(collection.check.rule, { params, given: { side: 'row', parameterOf } }),
            },
          ]
        : []),
      ...(writer.principal ? guarded : []).map((name): Check => {
        const { writable, readable } = (fields.get(name) as DescribedField).definition.options
        const place: RestOfRule = { params, ...(isNew && { given: { side: 'row', parameterOf } }) }
        const condition = !writable || (writable.kind === 'onCreate' ? isNew : ruleOf(writable, writer, place))
        // Otherwise guesses would tell the value of a field that may not be read.
        const isSeen = isNew || !readable || ruleOf(readable, writer, { params })
        return { kind: 'unwritable', field: name, condition: unlessSame(name, condition, isSeen) }
      }),
      {
        kind: 'rule',
        condition: ruleOf(collection.rules?.[action], writer, {
          params,
          given: { side: isNew ? 'row' : 'after', parameterOf },
        }),
      },
    ]
  }

  /** A comparison with null is no violation, as in a CHECK of SQL. */
  function writeCheck(rule: Rule, rest: RestOfRule): Condition {
    const condition = writeRule(rule, collection, { ...rest, dialect, principal: nobody, alias, keepsNull: true })
    return typeof condition === 'string' ? `COALESCE(${condition}, TRUE)` : condition
  }

  function edited({ principal, via = null, now }: Writer, params: Params): { at: string; columns: string } {
    const at = castTo(time, params.add(now), dialect)
    const columns = `version = version + 1, updated_at = ${at}, changed_by = ${params.add(principal?.id ?? null)},
      changed_via = ${params.add(via)}, changed_by_version = version + 1`
    return { at, columns }
  }

  /** Undefined if the conditions cannot hold. */
  function updating(params: Params, changes: string, conditions: readonly Condition[]): WriteStatement {
    if (conditions.includes(false)) return undefined
    const where = conditions.filter((each) => typeof each === 'string').join(' AND ')
    return {
      sql: `UPDATE ${table} AS ${alias} SET ${changes} WHERE ${where} RETURNING ${returned}`,
      params: params.values,
    }
  }

  const isLive = `${alias}.deleted_at IS NULL`

  return {
    insert(writing: Writing, writer: Writer): WriteStatement {
      const params = new Params()
      const { parameters, columns } = given(writing, params)
      const at = castTo(time, params.add(writer.now), dialect)
      const conditions = checksOf(writing, 'create', { writer, params, at: () => at, parameters }).map(
        ({ condition }) => condition,
      )
      if (conditions.includes(false)) return undefined
      const names = [...columns.map(([name]) => name), 'created_at', 'updated_at', 'changed_by', 'changed_via']
      const by = `CAST(${params.add(writer.principal?.id ?? null)} AS BIGINT), CAST(${params.add(writer.via ?? null)} AS TEXT)`
      const rowValues = [...columns.map(([, parameter]) => parameter), at, at, by].join(', ')
      const into = `INSERT INTO ${table} (${names.map(quote).join(', ')})`
      const where = conditions.filter((each) => typeof each === 'string').join(' AND ')
      return where === ''
        ? { sql: `${into} VALUES (${rowValues}) RETURNING ${returned}`, params: params.values, insertsOne: true }
        : { sql: `${into} SELECT ${rowValues} WHERE ${where} RETURNING ${returned}`, params: params.values }
    },

    update(row: RowVersion, writing: Writing, writer: Writer): WriteStatement {
      const params = new Params()
      const { parameters, columns } = given(writing, params)
      const changes = columns.map(([name, parameter]) => `${quote(name)} = ${parameter}`)
      const { at, columns: edits } = edited(writer, params)
      const checks = checksOf(writing, 'update', { writer, params, at: () => at, parameters })
      const conditions = [...foundBy(row, writer, params), isLive, ...checks.map(({ condition }) => condition)]
      return updating(params, [...changes, edits].join(', '), conditions)
    },

    /** Can be restored, with whatever else has the same mark. */
    softDelete(row: RowVersion, writer: Writer, mark: string): WriteStatement {
      const params = new Params()
      const { at, columns } = edited(writer, params)
      const rule = ruleOf(collection.rules?.delete, writer, { params })
      const changes = `deleted_at = ${at}, deleted_with = ${params.add(mark)}, ${columns}`
      return updating(params, changes, [...foundBy(row, writer, params), isLive, rule])
    },

    /** Undoes a deletion since this time, for those who may delete the row. */
    restore(id: number, since: string, writer: Writer, version: number | null = null): WriteStatement {
      const params = new Params()
      const { columns } = edited(writer, params)
      const rule = ruleOf(collection.rules?.delete, writer, { params })
      const deleted = `${alias}.deleted_at > ${castTo(time, params.add(since), dialect)}`
      const conditions = [...foundBy({ id, version }, writer, params), deleted, ...haveParents(), rule]
      return updating(params, `deleted_at = NULL, ${columns}`, conditions)
    },

    /** Deletes the rows that refer by `field` to deleted ones with the same mark. */
    deleteReferring(field: string, parent: Described, mark: string, writer: Writer): Statement {
      const params = new Params()
      const { at, columns } = edited(writer, params)
      const changes = `deleted_at = ${at}, deleted_with = ${params.add(mark)}, ${columns}`
      return updating(params, changes, [isLive, refersToMarked(field, parent, params.add(mark))]) as Statement
    },

    /** Deletes the rows of a user, before the user is. */
    deleteOfUser(field: string, userId: number, mark: string, writer: Writer): Statement {
      const params = new Params()
      const { at, columns } = edited(writer, params)
      const changes = `deleted_at = ${at}, deleted_with = ${params.add(mark)}, ${columns}`
      return updating(params, changes, [isLive, `${alias}.${quote(field)} = ${params.add(userId)}`]) as Statement
    },

    clearReferring(field: string, parent: Described, mark: string, writer: Writer): Statement {
      const params = new Params()
      const { columns } = edited(writer, params)
      const conditions = [isLive, refersToMarked(field, parent, params.add(mark))]
      return updating(params, `${quote(field)} = NULL, ${columns}`, conditions) as Statement
    },

    /** Decides that nothing refers to a deleted row. */
    requireUnreferred: (field: string, parent: Described, mark: string): Statement => ({
      sql: `SELECT 1 AS ok WHERE NOT EXISTS (SELECT 1 FROM ${table} AS ${alias} WHERE ${isLive} AND ${refersToMarked(field, parent, '$1')})`,
      params: [mark],
      decides: true,
    }),

    /** Restores what was deleted together with a row of `root`. */
    restoreWith(root: Described, id: number, writer: Writer): Statement {
      const params = new Params()
      const { columns } = edited(writer, params)
      const conditions = [deletedWith(root, params.add(id)), `${alias}.deleted_at IS NOT NULL`, ...haveParents()]
      return updating(params, `deleted_at = NULL, ${columns}`, conditions) as Statement
    },

    /** On PostgreSQL, keeps what such rows refer to from being deleted while they are restored. */
    lockParents(root: Described, id: number): Statement[] {
      if (dialect === 'sqlite') return []
      const where = root === collection ? `${alias}.id = $1 OR ${deletedWith(root, '$1')}` : deletedWith(root, '$1')
      return parentsOf().map(({ name, target }) => ({
        sql: `SELECT id FROM ${quote(target.table)} WHERE id IN (
          SELECT ${quote(name)} FROM ${table} AS ${alias} WHERE ${where}) ORDER BY id FOR SHARE`,
        params: [id],
      }))
    },

    /** For collections that do not keep what is deleted: after `softDelete`, which has logged it. */
    remove: (mark: string): Statement => ({
      sql: `DELETE FROM ${table} WHERE deleted_with = $1 AND deleted_at IS NOT NULL`,
      params: [mark],
    }),

    /** Removes rows that were deleted before this time, `most` at once. */
    purge: (before: string, most: number): Statement => ({
      sql: `DELETE FROM ${table} WHERE id IN (
        SELECT id FROM ${table} WHERE deleted_at IS NOT NULL AND deleted_at < $1 ORDER BY deleted_at LIMIT $2) RETURNING id`,
      params: [before, most],
    }),

    /**
     * On PostgreSQL, keeps related rows from being deleted until the end of the transaction. SQLite has one writer at a time.
     */
    lockRelated({ values }: Writing): Statement[] {
      if (dialect === 'sqlite') return []
      return Object.entries(values).flatMap(([name, value]) => {
        const { target, kind } = fields.get(name) ?? {}
        if (!target?.rules || kind !== 'belongsTo' || value === null) return []
        return [{ sql: `SELECT id FROM ${quote(target.table)} WHERE id = $1 FOR SHARE`, params: [value] }]
      })
    },

    /** Tells which conditions of `insert` do not hold. */
    checkInsert(writing: Writing, writer: Writer): Checking {
      const params = new Params()
      return checking(checksOf(writing, 'create', asNeeded(writing, writer, params)), params, '')
    },

    /** The same of `update`. No row: it is not there, or may not be read. */
    checkUpdate(id: number, writing: Writing, writer: Writer): Checking | undefined {
      const params = new Params()
      const checks = checksOf(writing, 'update', asNeeded(writing, writer, params))
      return checkingRow(id, checks, writer, params)
    },

    checkDelete(id: number, writer: Writer): Checking | undefined {
      const params = new Params()
      return checkingRow(
        id,
        [{ kind: 'rule', condition: ruleOf(collection.rules?.delete, writer, { params }) }],
        writer,
        params,
      )
    },

    /** Why a row that was deleted since this time cannot be restored. */
    checkRestore(id: number, since: string, writer: Writer) {
      const params = new Params()
      const rule = ruleOf(collection.rules?.delete, writer, { params })
      const readable = ruleOf(collection.rules?.read, writer, { params })
      const parents = parentsOf()
      const columns = parents.map(({ condition }, i) => `, ${condition} AS c${i}`).join('')
      const where = `${alias}.id = ${params.add(id)} AND ${alias}.deleted_at > ${castTo(time, params.add(since), dialect)}`
      const sql = `SELECT ${toSql(rule)} AS allowed${columns} FROM ${table} AS ${alias} WHERE ${where} AND ${toSql(readable)}`
      return {
        sql: readable === false ? undefined : sql,
        params: params.values,
        missingOf: (row: Readonly<Record<string, unknown>>) =>
          parents.flatMap(({ name }, i) => (row[`c${i}`] ? [] : [name])),
      }
    },

    /** Which of these ids a relation may refer to. */
    findRelated(field: DescribedField, ids: readonly number[], writer: Pick<Writer, 'principal'>): Statement {
      const params = new Params()
      const list = params.add(JSON.stringify(ids))
      const items =
        dialect === 'sqlite'
          ? `json_each(${list})`
          : `(SELECT CAST(item AS BIGINT) AS value FROM json_array_elements_text(CAST(${list} AS JSON)) AS item) AS items`
      const found = existing(field, 'value', writer, params)
      return { sql: `SELECT value AS id FROM ${items} WHERE ${found}`, params: params.values }
    },

    /** Finds a row that the reader may read. The text is written once for readers with the same permissions and roles. */
    find(id: number, principal: RulePrincipal | undefined): WriteStatement {
      const outcome = outcomeOf(principal)
      let found = finds.get(outcome)
      if (found === undefined) {
        const { can, hasRole } = principal ?? nobody
        found = writeFind(principal && { can, hasRole, id: principal.id === undefined ? undefined : meMark }) ?? null
        finds.set(outcome, found)
      }
      if (found === null) return undefined
      const { sql, params } = found
      return {
        sql,
        params: params.map((each) => (each === idMark ? id : each === meMark ? (principal?.id as number) : each)),
      }
    },

    returned,
    readableFlags,
    /** The condition that a reader may see a row, for lists. */
    readable: (principal: RulePrincipal | undefined, params: Params): Condition =>
      ruleOf(collection.rules?.read, { principal }, { params }),
    ruleOf: (rule: Rule, principal: RulePrincipal | undefined, params: Params): Condition =>
      ruleOf(rule, { principal }, { params }),
  }

  /** Adds only the parameters that are used: an engine cannot tell the type of others. */
  function asNeeded({ values }: Writing, writer: Writer, params: Params): Place {
    const added = new Map<string, string>()
    const names = Object.keys(values).filter((name) => fields.has(name) && !isOwnField(name))
    const add = (name: string, value: Value, field: DescribedField) => {
      const parameter = added.get(name) ?? castTo(field, params.add(value), dialect)
      added.set(name, parameter)
      return parameter
    }
    return {
      writer,
      params,
      at: () => add('updated_at', writer.now, time),
      parameters: {
        has: (name) => names.includes(name),
        keys: () => names.values(),
        get: (name) =>
          names.includes(name) ? add(name, values[name] as Value, fields.get(name) as DescribedField) : undefined,
      },
    }
  }

  function writeFind(principal: RulePrincipal | undefined): { sql: string; params: readonly Value[] } | undefined {
    const params = new Params()
    const conditions = [...conditionsOf({ id: idMark, version: null }, params), isLive]
    const rule = ruleOf(collection.rules?.read, { principal }, { params })
    if (rule === false) return undefined
    const flags = readableFlags(principal, params)
    const where = [...conditions, ...(rule === true ? [] : [rule])].join(' AND ')
    return { sql: `SELECT ${returned}${flags} FROM ${table} AS ${alias} WHERE ${where}`, params: params.values }
  }

  /** Whether fields may be read where that depends on the row: further columns, such as `cost__readable`. */
  function readableFlags(principal: RulePrincipal | undefined, params: Params): string {
    const flags = guarded.flatMap(({ name, readable }) => {
      const condition = ruleOf(readable, { principal }, { params })
      return typeof condition === 'string' ? [`, (${condition}) AS ${quote(`${name}__readable`)}`] : []
    })
    return flags.join('')
  }

  /** What a row refers to must not be deleted when it is restored. */
  function parentsOf(): { name: string; target: Described; condition: string }[] {
    return [...fields.values()].flatMap(({ name, kind, target }) => {
      if (kind !== 'belongsTo' || !target?.rules) return []
      const column = `${alias}.${quote(name)}`
      const condition = `(${column} IS NULL OR EXISTS (SELECT 1 FROM ${quote(target.table)} parent
          WHERE parent.id = ${column} AND parent.deleted_at IS NULL))`
      return [{ name, target, condition }]
    })
  }

  function haveParents(): string[] {
    return parentsOf().map(({ condition }) => condition)
  }

  function deletedWith(root: Described, id: string): string {
    return `${alias}.deleted_with = (SELECT deleted_with FROM ${quote(root.table)} WHERE id = ${id})`
  }

  function refersToMarked(field: string, parent: Described, mark: string): string {
    return `${alias}.${quote(field)} IN (SELECT id FROM ${quote(parent.table)} WHERE deleted_with = ${mark})`
  }

  function checkingRow(id: number, checks: readonly Check[], writer: Writer, params: Params): Checking | undefined {
    const readable = ruleOf(collection.rules?.read, writer, { params })
    if (readable === false) return undefined
    const where = [`${alias}.id = ${params.add(id)}`, isLive, ...(readable === true ? [] : [readable])]
    return checking(checks, params, ` FROM ${table} AS ${alias} WHERE ${where.join(' AND ')}`)
  }
}

export type CollectionStatements = ReturnType<typeof createStatements>

type RestOfRule = Omit<RuleSqlOptions, 'dialect' | 'principal' | 'alias'>

interface Place {
  writer: Writer
  params: Params
  at(): string
  parameters: Pick<ReadonlyMap<string, string>, 'get' | 'has' | 'keys'>
}

const nobody: RulePrincipal = { id: undefined, can: () => false, hasRole: () => false }

function toSql(condition: Condition): string {
  return typeof condition === 'string' ? condition : condition ? 'TRUE' : 'FALSE'
}

export interface Checking {
  statement: Statement
  /** The conditions that do not hold, from the row of the statement. */
  failuresOf(row: Readonly<Record<string, unknown>>): Failure[]
}

function checking(checks: readonly Check[], params: Params, from: string): Checking {
  const columns = checks.map(({ condition }, i) => `${toSql(condition)} AS c${i}`)
  const sql = `SELECT ${from === '' ? '' : 'version, '}${columns.join(', ')}${from}`
  return {
    statement: { sql, params: params.values },
    failuresOf: (row) => checks.filter((_, i) => !row[`c${i}`]),
  }
}
