/** Writes rules as sentences, for the API reference, the console and refusals. */
import type { Comparison, FieldPath, Operand, Rule } from '../declare/rules.ts'

const words: Readonly<Record<Comparison, string>> = {
  is: 'is',
  isNot: 'is not',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is greater than',
  gte: 'is at least',
}

/** Completes "Allowed for": `any signed-in user`, or `users with the permission tickets.view, or if author is you`. */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case 'everybody':
      return 'everyone'
    case 'signedIn':
      return 'you are signed in'
    case 'never':
      return 'no one'
    case 'can':
      return `you have the permission ${rule.permission}`
    case 'role':
      return `you have the role ${rule.name}`
    case 'all':
      return joinAll(rule.rules, ' and ')
    case 'any':
      return joinAll(rule.rules, ' or ')
    case 'not':
      return `not (${describeRule(rule.rule)})`
    case 'through':
      return `you may ${rule.action} its ${shown(rule.relation)}`
    default:
      return describeCondition(rule)
  }
}

function joinAll(rules: readonly Rule[], word: ' and ' | ' or '): string {
  const parts = rules.map((each) => {
    const isNested = (each.kind === 'all' || each.kind === 'any') && each.rules.length > 1 && rules.length > 1
    return isNested ? `(${describeRule(each)})` : describeRule(each)
  })
  return parts.length > 0 ? parts.join(word) : word === ' and ' ? 'everyone' : 'no one'
}

function describeCondition(rule: Extract<Rule, { field: FieldPath }>): string {
  const field = describePath(rule.field)
  if (rule.kind === 'isNull') return `${field} is empty`
  if (rule.kind === 'has') return `${field} include ${describeOperand(rule.operand)}`
  if (rule.kind === 'in') return `${field} is one of ${rule.values.join(', ')}`
  return `${field} ${words[rule.operator]} ${describeOperand(rule.operand)}`
}

function describePath({ side, names: [first = '', second] }: FieldPath): string {
  const path = second === undefined ? shown(first) : `${shown(second)} of the ${shown(first)}`
  return side === 'after' ? `the new ${path}` : path
}

function describeOperand(operand: Operand): string {
  if (operand.kind === 'me') return 'you'
  return operand.kind === 'field' ? describePath(operand) : String(operand.value)
}

function shown(name: string): string {
  return name.replaceAll('_', ' ')
}
