/**
 * Writes rules as conditions of SQL, one text for both engines. What depends only on the principal is decided before, so that a
 * statement has as many texts as there are outcomes of that, not one for each user.
 */
import type { Dialect, Value } from '../../platform/database/database.ts'
import type { Params } from '../../platform/listing/list-params.ts'
import { comparedTypeOf, type Described, type DescribedField, resolvePath } from '../declare/describe.ts'
import type { Comparison, FieldPath, Operand, Rule } from '../declare/rules.ts'
import { itemTypeOf, listTableOf, quote } from '../schema/tables.ts'
import { comparesDays, decideWithoutRow, operandTypeOf, type RowRule, type RulePrincipal, toStored } from './values.ts'

/** True and false where no row needs to be looked at. */
export type Condition = boolean | string

export interface RuleSqlOptions {
  dialect: Dialect
  principal: RulePrincipal
  params: Params
  /** The alias of the table in the statement. */
  alias: string
  /**
   * The values of a row that is not stored yet: of the new row, or of the row as an update would leave it. Undefined only for a
   * field that an update leaves as it is.
   */
  given?: { side: FieldPath['side']; parameterOf(field: DescribedField): string | undefined }
  /** A comparison with a null of a related row, or with one of none, is null instead of false. */
  keepsNull?: boolean
}

interface Writing extends RuleSqlOptions {
  /** Inside of `not`, null would stay null, where it has to count as false. */
  isNegated: boolean
  depth: number
}

export function writeRule(rule: Rule, collection: Described, options: RuleSqlOptions): Condition {
  return write(rule, collection, { ...options, isNegated: false, depth: 0 })
}

const signs: Readonly<Record<Comparison, string>> = { is: '=', isNot: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' }

function write(rule: Rule, collection: Described, writing: Writing): Condition {
  const decided = decideWithoutRow(rule, writing.principal)
  return decided ?? writeOnRow(rule as RowRule, collection, writing)
}

function writeOnRow(rule: RowRule, collection: Described, writing: Writing): Condition {
  switch (rule.kind) {
    case 'all':
      return join(rule.rules, 'AND', collection, writing)
    case 'any':
      return join(rule.rules, 'OR', collection, writing)
    case 'not': {
      const negated = write(rule.rule, collection, { ...writing, isNegated: true })
      return typeof negated === 'boolean' ? !negated : `NOT ${negated}`
    }
    case 'through':
      return writeThrough(rule, collection, writing)
    default: {
      const condition = writeCondition(rule, collection, writing)
      return writing.isNegated && typeof condition === 'string' ? `COALESCE(${condition}, FALSE)` : condition
    }
  }
}

function join(rules: readonly Rule[], word: 'AND' | 'OR', collection: Described, writing: Writing): Condition {
  const decisive = word === 'OR'
  const conditions: string[] = []
  const { values } = writing.params
  const before = values.length
  for (const rule of rules) {
    const condition = write(rule, collection, writing)
    if (condition === decisive) {
      // Parameters of conditions that are left out would have no place.
      values.length = before
      return decisive
    }
    if (typeof condition === 'string') conditions.push(condition)
  }
  if (conditions.length === 0) return !decisive
  return conditions.length === 1 ? (conditions[0] as string) : `(${conditions.join(` ${word} `)})`
}

function writeThrough(
  { relation, action }: Extract<Rule, { kind: 'through' }>,
  collection: Described,
  writing: Writing,
): Condition {
  const field = collection.fields.get(relation)
  const { target } = field ?? {}
  const rule = target?.rules?.[action]
  if (!field || !target || !rule) return false
  const alias = `related_${writing.depth + 1}`
  const nested = write(rule, target, { ...writing, alias, depth: writing.depth + 1, isNegated: false })
  if (nested === false) return false
  const condition = nested === true ? '' : ` AND ${nested}`
  return `EXISTS (SELECT 1 FROM ${quote(target.table)} ${alias}
    WHERE ${alias}.id = ${columnAt('row', field, writing)}${isLive(target, alias)}${condition})`
}

function writeCondition(rule: Extract<Rule, { field: FieldPath }>, collection: Described, writing: Writing): Condition {
  const found = resolvePath(rule.field, collection)
  if (!found) return false
  const { field, through } = found
  if (rule.kind === 'has') return writeHas(rule, { field, through, collection, writing })
  const { params } = writing
  return reach(through, rule.field, writing, (column) => {
    const value = column(field)
    if (rule.kind === 'isNull') return `${value} IS NULL`
    if (rule.kind === 'in') {
      if (rule.values.length === 0) return false
      return `${value} IN (${rule.values.map((each) => addValue(params, toStored(each, field))).join(', ')})`
    }
    const operand = writeOperand(rule.operand, { field, collection, writing })
    if (operand === undefined) return false
    if (!comparesDays(field, rule.operand, collection)) return `${value} ${signs[rule.operator]} ${operand}`
    const types = [comparedTypeOf(field), operandTypeOf(rule.operand, collection)]
    const [one, other] = [value, operand].map((each, i) => (types[i] === 'time' ? dayOf(each, writing.dialect) : each))
    return `${one} ${signs[rule.operator]} ${other}`
  })
}

/** Writes a condition on the row itself, or on the related one. */
function reach(
  through: DescribedField | undefined,
  { side }: FieldPath,
  writing: Writing,
  toCondition: (column: (field: DescribedField) => string) => Condition,
): Condition {
  if (!through) return toCondition((field) => columnAt(side, field, writing))
  const alias = `related_${writing.depth + 1}`
  const condition = toCondition(({ name }) => `${alias}.${quote(name)}`)
  if (typeof condition === 'boolean') return condition
  const from = `FROM ${quote(through.target?.table ?? '')} ${alias}
    WHERE ${alias}.id = ${columnAt(side, through, writing)}${isLive(through.target, alias)}`
  return writing.keepsNull ? `(SELECT ${condition} ${from})` : `EXISTS (SELECT 1 ${from} AND ${condition})`
}

/** A deleted row grants nothing. Users are not kept when they are deleted. */
function isLive(target: Described | undefined, alias: string): string {
  return target?.rules ? ` AND ${alias}.deleted_at IS NULL` : ''
}

interface HasPlace {
  field: DescribedField
  through: DescribedField | undefined
  collection: Described
  writing: Writing
}

function writeHas(
  { field: path, operand }: Extract<Rule, { kind: 'has' }>,
  { field, through, collection, writing }: HasPlace,
): Condition {
  const value = writeOperand(operand, { field, collection, writing })
  if (value === undefined) return false
  const list = through ? undefined : givenAt(path.side, field, writing)
  if (list !== undefined)
    return `EXISTS (SELECT 1 FROM ${itemsOf(list, field, writing.dialect)} WHERE value = ${value})`
  if (!through?.target) {
    const items = listTableOf(collection, field)
    return `EXISTS (SELECT 1 FROM ${items} item WHERE item.row_id = ${writing.alias}.id AND item.value = ${value})`
  }
  return `EXISTS (SELECT 1 FROM ${listTableOf(through.target, field)} item
    JOIN ${quote(through.target.table)} owner ON owner.id = item.row_id
    WHERE item.row_id = ${columnAt(path.side, through, writing)} AND item.value = ${value}${isLive(through.target, 'owner')})`
}

/** The items of a list that is a parameter. */
export function itemsOf(list: string, field: DescribedField, dialect: Dialect): string {
  if (dialect === 'sqlite') return `json_each(${list})`
  return `(SELECT CAST(item AS ${itemTypeOf(field, dialect)}) AS value FROM json_array_elements_text(CAST(${list} AS JSON)) AS item) AS items`
}

/** The value of a rule about a list, for the table of its items. Undefined if it is null. */
export function writeItem(
  { field: path, operand }: Extract<Rule, { kind: 'has' }>,
  collection: Described,
  options: RuleSqlOptions,
): string | undefined {
  const found = resolvePath(path, collection)
  return (
    found &&
    writeOperand(operand, { field: found.field, collection, writing: { ...options, isNegated: false, depth: 0 } })
  )
}

/** Undefined if it is null: nothing compares with that. */
function writeOperand(operand: Operand, { field, collection, writing }: Omit<HasPlace, 'through'>): string | undefined {
  const { params, principal } = writing
  if (operand.kind === 'me') return principal.id === undefined ? undefined : addValue(params, principal.id)
  if (operand.kind === 'value')
    return operand.value === null ? undefined : addValue(params, toStored(operand.value, field))
  const found = resolvePath(operand, collection)
  if (!found) return undefined
  if (!found.through) return columnAt(operand.side, found.field, writing)
  const id = columnAt(operand.side, found.through, writing)
  const { target } = found.through
  return `(SELECT operand.${quote(found.field.name)} FROM ${quote(target?.table ?? '')} operand
    WHERE operand.id = ${id}${isLive(target, 'operand')})`
}

function columnAt(side: FieldPath['side'], field: DescribedField, writing: Writing): string {
  return givenAt(side, field, writing) ?? `${writing.alias}.${quote(field.name)}`
}

/** Rules of related rows are about what is stored. */
function givenAt(side: FieldPath['side'], field: DescribedField, { given, depth }: Writing): string | undefined {
  return depth === 0 && given?.side === side ? given.parameterOf(field) : undefined
}

function addValue(params: Params, value: Value): string {
  return typeof value === 'string' || typeof value === 'number' ? params.addCompared(value) : params.add(value)
}

function dayOf(time: string, dialect: Dialect): string {
  return dialect === 'sqlite' ? `substr(${time}, 1, 10)` : `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`
}
