/** Values that rules compare, as they are stored. */
import { roundDecimal } from '../../core/decimal.ts'
import type { ComparedType, DescribedField } from '../declare/describe.ts'
import type { Scalar } from '../declare/rules.ts'

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
  const { kind, options } = definition.item ?? definition.computed?.type ?? definition
  if (kind === 'decimal') return roundDecimal(String(value), options.scale ?? 0)
  return kind === 'time' ? new Date(String(value)).toISOString() : value
}

/** Days are compared with days: a time is on the day that it is on in UTC. */
export function comparesDays(one: ComparedType | undefined, other: ComparedType | undefined): boolean {
  return one !== other && (one === 'day' || other === 'day')
}
