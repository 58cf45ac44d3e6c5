/** Evaluates rules on rows that are at hand, as the SQL of the same rule does: for the change log and open connections. */
import { type Described, type DescribedField, resolvePath } from '../declare/describe.ts'
import type { Comparison, FieldPath, Operand, Rule, Scalar } from '../declare/rules.ts'
import { comparesDays, decideWithoutRow, type RowRule, type RulePrincipal, toStored } from './values.ts'

/** Values by field, as they are stored: relations are ids, decimals whole numbers of their last digit. */
export type StoredRow = Readonly<Record<string, unknown>>

export interface RuleFacts {
  row: StoredRow
  /** For `update`: the row as it would become. */
  after?: StoredRow
  /** Undefined if there is no such row, or if it is deleted. */
  findRelated(target: Described, id: number): StoredRow | undefined
}

export function isAllowed(rule: Rule, collection: Described, principal: RulePrincipal, facts: RuleFacts): boolean {
  const decided = decideWithoutRow(rule, principal)
  return decided ?? isAllowedOnRow(rule as RowRule, collection, principal, facts)
}

function isAllowedOnRow(rule: RowRule, collection: Described, principal: RulePrincipal, facts: RuleFacts): boolean {
  const evaluate = (each: Rule) => isAllowed(each, collection, principal, facts)
  switch (rule.kind) {
    case 'all':
      return rule.rules.every(evaluate)
    case 'any':
      return rule.rules.some(evaluate)
    case 'not':
      return !evaluate(rule.rule)
    case 'through':
      return isAllowedThrough(rule.relation, rule.action, collection, principal, facts)
    default:
      return isMet(rule, collection, principal, facts)
  }
}

function isAllowedThrough(
  relation: string,
  action: 'read' | 'create' | 'update' | 'delete',
  collection: Described,
  principal: RulePrincipal,
  { row, findRelated }: RuleFacts,
): boolean {
  const { target } = collection.fields.get(relation) ?? {}
  const id = row[relation]
  const related = target && typeof id === 'number' ? findRelated(target, id) : undefined
  const rule = target?.rules?.[action]
  return rule !== undefined && related !== undefined
    ? isAllowed(rule, target as Described, principal, { row: related, after: related, findRelated })
    : false
}

type Condition = Extract<Rule, { field: FieldPath }>

function isMet(rule: Condition, collection: Described, principal: RulePrincipal, facts: RuleFacts): boolean {
  const found = valueAt(rule.field, collection, facts)
  if (!found) return false
  const { field, value } = found
  if (rule.kind === 'isNull') return value === null
  if (value === null) return false
  if (rule.kind === 'in') return rule.values.some((each) => compare(value as Scalar, 'is', toStored(each, field)))
  const operand = operandOf(rule.operand, { field, collection, principal, facts })
  if (operand === null) return false
  if (rule.kind === 'has') return (value as readonly Scalar[]).some((each) => compare(each, 'is', operand))
  const isOnDays = comparesDays(field, rule.operand, collection)
  const [one, other] = isOnDays ? [dayOf(value), dayOf(operand)] : [value as Scalar, operand]
  return compare(one, rule.operator, other)
}

/** Undefined if the related row is missing. */
function valueAt(
  path: FieldPath,
  collection: Described,
  { row, after, findRelated }: RuleFacts,
): { field: DescribedField; value: unknown } | undefined {
  const found = resolvePath(path, collection)
  const from = path.side === 'after' ? after : row
  if (!found || !from) return undefined
  const { field, through } = found
  if (!through) return { field, value: from[field.name] ?? null }
  const id = from[through.name]
  const related = typeof id === 'number' ? findRelated(through.target as Described, id) : undefined
  return related && { field, value: related[field.name] ?? null }
}

interface OperandPlace {
  field: DescribedField
  collection: Described
  principal: RulePrincipal
  facts: RuleFacts
}

function operandOf(operand: Operand, { field, collection, principal, facts }: OperandPlace): Scalar | null {
  if (operand.kind === 'me') return principal.id ?? null
  if (operand.kind === 'value') return operand.value === null ? null : toStored(operand.value, field)
  return (valueAt(operand, collection, facts)?.value ?? null) as Scalar | null
}

function dayOf(value: unknown): string {
  return String(value).slice(0, 10)
}

function compare(one: Scalar, operator: Comparison, other: Scalar): boolean {
  const order = orderOf(one, other)
  if (operator === 'is') return order === 0
  if (operator === 'isNot') return order !== 0
  if (operator === 'lt') return order < 0
  if (operator === 'lte') return order <= 0
  return operator === 'gt' ? order > 0 : order >= 0
}

/** Texts by code points, as both engines order them, and not by UTF-16 units. */
function orderOf(one: Scalar, other: Scalar): number {
  if (one === other) return 0
  if (typeof one === 'string' && typeof other === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other))
  return one < other ? -1 : 1
}
