/** What a rule depends on besides the row itself: rows of other collections, and their fields. */
import { type Described, resolvePath } from '../declare/describe.ts'
import type { FieldPath, Rule } from '../declare/rules.ts'

/** A condition on rows that rows of `from` refer to. */
export interface Dependency {
  from: Described
  relation: string
  target: Described
  /** Evaluated on the related row. Undefined: it cannot be judged without the row that refers to it. */
  rule: Rule | undefined
  /** Of the related row. */
  fields: readonly string[]
}

export function dependenciesOf(from: Described, rule: Rule): Dependency[] {
  switch (rule.kind) {
    case 'all':
    case 'any':
      return rule.rules.flatMap((each) => dependenciesOf(from, each))
    case 'not':
      return dependenciesOf(from, rule.rule)
    case 'through': {
      const { relation } = rule
      const target = from.fields.get(relation)?.target as Described
      const nested = target.rules?.[rule.action] as Rule
      return [{ from, relation, target, rule: nested, fields: fieldsOf(nested) }, ...dependenciesOf(target, nested)]
    }
    case 'compare':
    case 'has':
    case 'in':
    case 'isNull':
      return pathsOf(rule).flatMap((path) => dependencyOf(from, path, rule))
    default:
      return []
  }
}

type Condition = Extract<Rule, { field: FieldPath }>

function pathsOf(rule: Condition): FieldPath[] {
  return 'operand' in rule && rule.operand.kind === 'field' ? [rule.field, rule.operand] : [rule.field]
}

function dependencyOf(from: Described, path: FieldPath, rule: Condition): Dependency[] {
  const { field, through } = resolvePath(path, from) ?? {}
  if (!field || !through?.target) return []
  const onTarget = { ...rule, field: { side: 'row', names: [field.name] } } as Rule
  return [
    {
      from,
      relation: through.name,
      target: through.target,
      rule: pathsOf(rule).length === 1 ? onTarget : undefined,
      fields: [field.name],
    },
  ]
}

/** The fields of a row itself that a rule looks at. */
function fieldsOf(rule: Rule): string[] {
  if ('rules' in rule) return rule.rules.flatMap(fieldsOf)
  if (rule.kind === 'not') return fieldsOf(rule.rule)
  if (rule.kind === 'through') return [rule.relation]
  return 'field' in rule ? pathsOf(rule).map(({ names }) => names[0] as string) : []
}
