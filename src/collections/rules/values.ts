/** Values that rules compare, as they are stored. */
import { roundDecimal } from '../../core/decimal.ts'
import {
  type ComparedType,
  comparedTypeOf,
  type Described,
  type DescribedField,
  resolvePath,
  valuesOf,
} from '../declare/describe.ts'
import type { Operand, Rule, Scalar } from '../declare/rules.ts'

/** Who asks. `system` is the service itself, which may do everything. */
export interface RulePrincipal {
  /** Undefined for an anonymous request. */
  id: number | undefined
  can(permission: string): boolean
  hasRole(name: string): boolean
}

/**
 * A value of a rule as it is compared with a field: decimals are stored as whole numbers of their last digit, times as
 * JavaScript writes them.
 */
export function toStored(value: Scalar, { definition }: DescribedField): Scalar {
  const { kind, options } = valuesOf(definition)
  if (kind === 'decimal') return roundDecimal(String(value), options.scale ?? 0)
  return kind === 'time' ? new Date(String(value)).toISOString() : value
}

/** What a rule comes to for this principal, whatever the row is. Undefined if that depends on the row. */
export function decideWithoutRow(rule: Rule, principal: RulePrincipal): boolean | undefined {
  switch (rule.kind) {
    case 'everybody':
      return true
    case 'never':
      return false
    case 'signedIn':
      return principal.id !== undefined
    case 'can':
      return principal.can(rule.permission)
    case 'role':
      return principal.hasRole(rule.name)
    default:
      return undefined
  }
}

/** The same for whole trees of rules: undefined only if it depends on the row. */
export function decideRule(rule: Rule, principal: RulePrincipal): boolean | undefined {
  if (rule.kind === 'not') {
    const decided = decideRule(rule.rule, principal)
    return decided === undefined ? undefined : !decided
  }
  if (rule.kind !== 'all' && rule.kind !== 'any') return decideWithoutRow(rule, principal)
  const decided = rule.rules.map((each) => decideRule(each, principal))
  const decisive = rule.kind === 'any'
  if (decided.includes(decisive)) return decisive
  return decided.includes(undefined) ? undefined : !decisive
}

/** Whether somebody who is not signed in could be allowed. Nobody equals them. */
export function mayBeAnonymous(rule: Rule | undefined, collection: Described): boolean {
  switch (rule?.kind) {
    case undefined:
    case 'never':
    case 'signedIn':
    case 'can':
    case 'role':
      return false
    case 'all':
      return rule.rules.every((each) => mayBeAnonymous(each, collection))
    case 'any':
      return rule.rules.some((each) => mayBeAnonymous(each, collection))
    case 'through': {
      const target = collection.fields.get(rule.relation)?.target
      return target !== undefined && mayBeAnonymous(target.rules?.[rule.action], target)
    }
    case 'compare':
    case 'has':
      return rule.operand.kind !== 'me'
    default:
      return true
  }
}

/** Everything that rules ask about the principal alone, as a text: the same for those for whom they have the same SQL. */
export function createOutcomes(
  rules: readonly (Rule | undefined)[],
  collection: Described,
): (principal: RulePrincipal | undefined) => string {
  const questions = new Map<string, (principal: RulePrincipal) => boolean>()
  const visited = new Map<Described, Set<Rule>>()
  const collect = (rule: Rule | undefined, of: Described): void => {
    const seen = visited.get(of) ?? new Set()
    if (!rule || seen.has(rule)) return
    visited.set(of, seen.add(rule))
    if (rule.kind === 'can') questions.set(`can ${rule.permission}`, (principal) => principal.can(rule.permission))
    else if (rule.kind === 'role') questions.set(`role ${rule.name}`, (principal) => principal.hasRole(rule.name))
    else if (rule.kind === 'not') collect(rule.rule, of)
    else if (rule.kind === 'all' || rule.kind === 'any') for (const each of rule.rules) collect(each, of)
    else if (rule.kind === 'through') {
      const target = of.fields.get(rule.relation)?.target
      if (target) collect(target.rules?.[rule.action], target)
    }
  }
  for (const rule of rules) collect(rule, collection)
  const all = [...questions.values()]
  return (principal) => {
    if (!principal) return 'system'
    let outcome = principal.id === undefined ? 'anonymous' : 'user'
    for (const ask of all) outcome += ask(principal) ? '1' : '0'
    return outcome
  }
}

/** The rules that may depend on the row. */
export type RowRule = Exclude<Rule, { kind: 'everybody' | 'never' | 'signedIn' | 'can' | 'role' }>

/** Undefined for a value, which has the type of the field that it is compared with. */
export function operandTypeOf(operand: Operand, collection: Described): ComparedType | undefined {
  const found = operand.kind === 'field' ? resolvePath(operand, collection) : undefined
  return found && comparedTypeOf(found.field)
}

/** A day and a time are compared by their days: that of a time is the one in UTC. */
export function comparesDays(field: DescribedField, operand: Operand, collection: Described): boolean {
  const [one, other] = [comparedTypeOf(field), operandTypeOf(operand, collection)]
  return other !== undefined && one !== other && (one === 'day' || other === 'day')
}
