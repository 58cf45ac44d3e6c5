/**
 * Rules as values: who may read or change a row. A rule is a tree, which src/collections/rules compiles to SQL, to a predicate
 * and to a sentence.
 */

/** A field of the row, or one step through a relation: `['owner']`, `['team', 'owner']`. */
export interface FieldPath {
  /** `after` is the row as an update would leave it. */
  side: 'row' | 'after'
  names: readonly string[]
}

export type Scalar = string | number | boolean
export type Operand = { kind: 'value'; value: Scalar | null } | { kind: 'me' } | ({ kind: 'field' } & FieldPath)

export const comparisons = ['is', 'isNot', 'lt', 'lte', 'gt', 'gte'] as const
export type Comparison = (typeof comparisons)[number]
export const actions = ['read', 'create', 'update', 'delete'] as const
export type Action = (typeof actions)[number]

/** A comparison with null is false, including `isNot`. */
export type Rule =
  | { kind: 'everybody' | 'signedIn' | 'never' }
  | { kind: 'can'; permission: string }
  | { kind: 'role'; name: string }
  | { kind: 'compare'; field: FieldPath; operator: Comparison; operand: Operand }
  | { kind: 'in'; field: FieldPath; values: readonly Scalar[] }
  | { kind: 'isNull'; field: FieldPath }
  | { kind: 'has'; field: FieldPath; operand: Operand }
  | { kind: 'through'; relation: string; action: Action }
  | { kind: 'all' | 'any'; rules: readonly Rule[] }
  | { kind: 'not'; rule: Rule }

export const everybody: Rule = { kind: 'everybody' }
export const signedIn: Rule = { kind: 'signedIn' }
export const never = { kind: 'never' } as const

/** The user who makes the request. Nobody equals an anonymous one. As a default of a field: that user. */
export const me = { kind: 'me' } as const
/** As a default of a field: the time of the request. */
export const now = { kind: 'now' } as const
/** For `writable`: the field is set when a row is created, and never changes. */
export const onCreate = { kind: 'onCreate' } as const

export const can = (permission: string): Rule => ({ kind: 'can', permission })
export const role = (name: string): Rule => ({ kind: 'role', name })
export const all = (...rules: readonly Rule[]): Rule => ({ kind: 'all', rules })
export const any = (...rules: readonly Rule[]): Rule => ({ kind: 'any', rules })
export const not = (rule: Rule): Rule => ({ kind: 'not', rule })

/** The rule of the related row, such as `through('ticket', 'read')`. */
export const through = (relation: string, action: Action): Rule => ({ kind: 'through', relation, action })

export type RuleValue = Scalar | null | typeof me | FieldExpression

export interface FieldOperators {
  is(value: RuleValue): Rule
  isNot(value: RuleValue): Rule
  lt(value: RuleValue): Rule
  lte(value: RuleValue): Rule
  gt(value: RuleValue): Rule
  gte(value: RuleValue): Rule
  in(values: readonly Scalar[]): Rule
  isNull(): Rule
  /** Whether a list contains the value. */
  has(value: RuleValue): Rule
}

/**
 * A field, with `FieldOperators`, and the fields of the row that it refers to. Names are checked at the start: TypeScript cannot
 * know which collection a rule belongs to.
 */
// biome-ignore lint/suspicious/noExplicitAny: with an index signature, noUncheckedIndexedAccess would make each field optional
export type FieldExpression = any

const operators: Readonly<Record<keyof FieldOperators, (field: FieldPath, value: unknown) => Rule>> = {
  ...(Object.fromEntries(
    comparisons.map((operator) => [
      operator,
      (field: FieldPath, value: unknown): Rule => ({ kind: 'compare', field, operator, operand: toOperand(value) }),
    ]),
  ) as Record<Comparison, (field: FieldPath, value: unknown) => Rule>),
  in: (field, values) => ({ kind: 'in', field, values: values as readonly Scalar[] }),
  isNull: (field) => ({ kind: 'isNull', field }),
  has: (field, value) => ({ kind: 'has', field, operand: toOperand(value) }),
}

/** Fields cannot have these names. */
export const operatorNames: readonly string[] = Object.keys(operators)

const paths = new WeakMap<object, FieldPath>()

function toOperand(value: unknown): Operand {
  if (typeof value !== 'object' || value === null) return { kind: 'value', value: value as Scalar | null }
  const path = paths.get(value)
  if (path) return { kind: 'field', ...path }
  if (value === me) return me
  throw new TypeError('a rule compares a field with a value, another field, or `me`')
}

function expressionOf(path: FieldPath): FieldExpression {
  const made = new Proxy(
    {},
    {
      get(_target, name) {
        if (typeof name !== 'string') return undefined
        const operator = operators[name as keyof FieldOperators]
        if (operator && path.names.length > 0) return (value: unknown) => operator(path, value)
        return expressionOf({ side: path.side, names: [...path.names, name] })
      },
    },
  )
  paths.set(made, path)
  return made
}

/** The stored row. */
export const row: FieldExpression = expressionOf({ side: 'row', names: [] })
/** In `update`: the row as it would become. */
export const after: FieldExpression = expressionOf({ side: 'after', names: [] })
