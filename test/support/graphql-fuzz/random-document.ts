/** Random documents that are valid by a schema, mostly, and random variables for them. */
import type { Random } from './random.ts'
import { type FieldSpec, type SchemaSpec, scalarValue, writeLiteral } from './random-schema.ts'

export interface Asked {
  query: string
  variables: Record<string, unknown>
}

interface Variable {
  name: string
  type: string
  default: unknown
}

export function createAsked(random: Random, spec: SchemaSpec): Asked {
  const variables: Variable[] = []
  const fragments = new Map<string, { on: string; text: string | undefined }>()
  const directives = random.chance(0.25)

  const declare = (type: string): string => {
    const known = variables.find((each) => each.type === type)
    if (known && random.chance(0.5)) return `$${known.name}`
    const name = random.chance(0.05) ? `toString${variables.length}` : `v${variables.length}`
    const canDefault = random.chance(0.35)
    variables.push({ name, type, default: canDefault ? inputValue(type, 3) : undefined })
    return `$${name}`
  }

  /** A value of JSON for an input type. */
  function inputValue(type: string, depth: number): unknown {
    const bare = type.replace(/!$/, '')
    if (bare === type && random.chance(0.12)) return null
    if (bare.startsWith('[')) {
      if (random.chance(0.15)) return inputValue(bare.slice(1, -1), depth)
      return Array.from({ length: random.below(3) }, () => inputValue(bare.slice(1, -1), depth - 1))
    }
    const fields = spec.inputs[bare]
    if (!fields) return scalarValue(random, bare)
    const given = Object.entries(fields).filter(
      ([, each]) =>
        (each.type.endsWith('!') && each.default === undefined) ||
        (random.chance(0.6) && (depth > 0 || !/In\d/.test(each.type))),
    )
    return Object.fromEntries(given.map(([name, each]) => [name, inputValue(each.type, depth - 1)]))
  }

  /** A literal, with variables in it here and there. */
  function literal(type: string, depth: number, hasDefault: boolean): string {
    if (random.chance(0.35)) {
      // What may be left out, or has a default, takes a variable that may be null as well.
      const bare = type.replace(/!$/, '')
      return declare(hasDefault && random.chance(0.4) ? bare : random.chance(0.2) ? `${bare}!` : type)
    }
    const bare = type.replace(/!$/, '')
    if (bare === type && random.chance(0.1)) return 'null'
    if (bare.startsWith('[')) {
      const items = Array.from({ length: random.below(3) }, () => literal(bare.slice(1, -1), depth - 1, false))
      return `[${items.join(' ')}]`
    }
    const fields = spec.inputs[bare]
    if (!fields) return writeLiteral(scalarValue(random, bare))
    const given = Object.entries(fields).filter(
      ([, each]) =>
        (each.type.endsWith('!') && each.default === undefined) ||
        (random.chance(0.5) && (depth > 0 || !/In\d/.test(each.type))),
    )
    return `{ ${given.map(([name, each]) => `${name}: ${literal(each.type, depth - 1, each.default !== undefined)}`).join(' ')} }`
  }

  function args(field: FieldSpec): string {
    const given = Object.entries(field.args).filter(
      ([, each]) => (each.type.endsWith('!') && each.default === undefined) || random.chance(0.7),
    )
    if (given.length === 0) return ''
    return `(${given.map(([name, each]) => `${name}: ${literal(each.type, 3, each.default !== undefined)}`).join(', ')})`
  }

  function condition(): string {
    if (!directives || !random.chance(0.2)) return ''
    const value = random.chance(0.4) ? String(random.chance(0.5)) : declare('Boolean!')
    return ` @${random.pick(['skip', 'include'])}(if: ${value})`
  }

  function selections(type: string, fields: readonly FieldSpec[], depth: number): string {
    const parts: string[] = []
    for (let i = 0; i < 1 + random.below(4); i++) {
      if (random.chance(0.08)) parts.push(`__typename${condition()}`)
      else if (random.chance(0.1))
        parts.push(`...${random.chance(0.5) ? ` on ${type}` : ''}${condition()} ${selections(type, fields, depth)}`)
      else if (depth > 0 && random.chance(0.12)) parts.push(spread(type, fields, depth))
      else {
        const part = fieldPart(random.pick(fields), depth)
        if (part) parts.push(part)
      }
    }
    return `{ ${parts.length === 0 ? '__typename' : parts.join(' ')} }`
  }

  function spread(type: string, fields: readonly FieldSpec[], depth: number): string {
    const name = `F${type}${depth}`
    if (!fragments.has(name)) {
      // Known before it is written: it must not lead to itself.
      fragments.set(name, { on: type, text: undefined })
      fragments.set(name, { on: type, text: selections(type, fields, depth - 1) })
    }
    const written = fragments.get(name)?.text
    return written === undefined ? '__typename' : `...${name}${condition()}`
  }

  function fieldPart(field: FieldSpec, depth: number): string | undefined {
    const inner = field.type.replace(/[![\]]/g, '')
    const fields = spec.objects[inner]
    if (fields && depth <= 0) return undefined
    const alias = random.chance(0.3) ? `${random.pick(['p', 'q', 'n_r', 'b', 'valueOf'])}: ` : ''
    const start = `${alias}${field.name}${args(field)}${condition()}`
    return fields ? `${start} ${selections(inner, fields, depth - 1)}` : start
  }

  const body = selections('Query', spec.roots, 4)
  const used = [...fragments].filter(([name]) => isUsed(name))
  function isUsed(name: string): boolean {
    return [body, ...[...fragments.values()].map(({ text }) => text ?? '')].some((text) => text.includes(`...${name}`))
  }
  const declared = variables.map(
    ({ name, type, default: value }) => `$${name}: ${type}${value === undefined ? '' : ` = ${writeLiteral(value)}`}`,
  )
  const query = `query${declared.length > 0 ? ` (${declared.join(', ')})` : ''} ${body}${used
    .map(([name, { on, text }]) => ` fragment ${name} on ${on} ${text}`)
    .join('')}`
  const values: Record<string, unknown> = {}
  for (const { name, type, default: value } of variables) {
    const isNeeded = type.endsWith('!') && value === undefined
    if (!isNeeded && random.chance(0.35)) continue
    values[name] = random.chance(0.03) ? random.pick([{ z: 1 }, [[]], 'x', 1.5, 2 ** 40]) : inputValue(type, 3)
  }
  return { query, variables: values }
}
