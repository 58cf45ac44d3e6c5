/** Collections as text, for the terminal. */
import { type Described, type DescribedField, valuesOf } from '../../collections/declare/describe.ts'
import type { FieldDefinition } from '../../collections/declare/fields.ts'
import { actions } from '../../collections/declare/rules.ts'
import { describeRule } from '../../collections/rules/sentence.ts'
import { isMarker } from '../../collections/store/values.ts'
import { findClosestMatch } from '../../core/closest-match.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export function requireCollection(all: readonly Described[], name: string): Described {
  const found = all.find((each) => each.name === name)
  if (found) return found
  const names = all.map((each) => each.name)
  const closest = findClosestMatch(name, names)
  const hint = closest === undefined ? `there are ${names.join(', ') || 'none'}` : `do you mean ${closest}?`
  throw new FatalError(`there is no collection ${name}; ${hint}`, exitCodes.usage)
}

/** `text, 2 to 200 characters`, `list of teams, at most 20`. */
export function describeField({ kind, definition, target, many }: DescribedField): string {
  const { options } = definition
  const { item, computed } = definition
  const parts = [
    many
      ? `rows of ${many.of.name} whose ${many.by} is this row`
      : item
        ? `list of ${target?.name ?? kindOf(valuesOf(definition))}`
        : computed
          ? `computed ${kindOf(computed.type)}${computed.isStored ? ', stored' : ''}`
          : target
            ? `one of ${target.name}`
            : kindOf(definition),
    ...rangeOf(definition),
    ...(options.optional ? ['optional'] : []),
    ...defaultOf(options.default),
    ...(options.unique ? ['unique'] : []),
    ...(options.uniqueWithin === undefined ? [] : [`unique within ${options.uniqueWithin}`]),
    ...(options.onDelete === undefined || kind !== 'belongsTo' ? [] : [`on delete: ${options.onDelete}`]),
  ]
  return parts.join(', ')
}

function kindOf({ kind, values, options }: FieldDefinition): string {
  if (kind === 'choice') return `one of ${values?.join(', ')}`
  return kind === 'decimal' ? `number with ${options.scale ?? 0} decimals` : kind
}

function rangeOf({ kind, options: { min, max } }: FieldDefinition): string[] {
  const unit = kind === 'list' ? ' items' : ['text', 'email', 'url'].includes(kind) ? ' characters' : ''
  if (min !== undefined && max !== undefined) return [`${min} to ${max}${unit}`]
  if (min !== undefined) return [`at least ${min}${unit}`]
  return max === undefined ? [] : [`at most ${max}${unit}`]
}

function defaultOf(given: unknown): string[] {
  if (given === undefined) return []
  if (isMarker(given, 'me')) return ['by default the user']
  return [isMarker(given) ? 'by default the time' : `by default ${String(given)}`]
}

export function showCollection(collection: Described): string {
  const { name, path, table, fields, rules, lists, check } = collection
  const width = Math.max(...[...fields.keys()].map((each) => each.length))
  const lines = [
    `${name} (${path}, table ${table})`,
    '  fields',
    ...[...fields.values()].map((field) => `    ${field.name.padEnd(width)}  ${describeField(field)}`),
    '  rules',
    ...actions.map((action) => `    ${action.padEnd(6)}  ${describeRule(rules?.[action] ?? { kind: 'never' })}`),
    ...(check ? [`    check   ${describeRule(check.rule)}: ${check.message}`] : []),
    '  lists',
    ...Object.entries(lists).map(([kind, names]) => `    ${kind.padEnd(6)}  ${names.join(', ') || '–'}`),
  ]
  return `${lines.join('\n')}\n`
}
