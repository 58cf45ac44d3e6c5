/** Random elements, and the same schema for plain graphql-js. */
import { buildSchema, type GraphQLObjectType, type GraphQLSchema } from 'graphql'
import { refusals } from '../../../src/platform/access/route-guards.ts'
import type { Context, Element, Field } from '../../../src/platform/graphql/schema/elements.ts'
import { inputType, objectType, query } from '../../../src/platform/graphql/schema/elements.ts'
import type { Random } from './random.ts'
import { createValues, type Values } from './random-values.ts'

export interface InputSpec {
  type: string
  /** Undefined: none. */
  default?: unknown
}

export interface FieldSpec {
  name: string
  type: string
  args: Record<string, InputSpec>
  /** How its value comes to be: by a resolver, together with others, or as a property of its object. */
  by: 'resolver' | 'loader' | 'property'
  isGuarded: boolean
}

export interface SchemaSpec {
  seed: number
  inputs: Record<string, Record<string, InputSpec>>
  objects: Record<string, FieldSpec[]>
  roots: FieldSpec[]
}

const scalars = ['Int', 'Float', 'String', 'Boolean', 'ID'] as const

export function createSchemaSpec(random: Random, seed: number): SchemaSpec {
  const inputNames = ['In0', 'In1', 'In2'].slice(0, 1 + random.below(3))
  const objectNames = ['A', 'Ab', 'Node'].slice(0, 1 + random.below(3))

  const wrap = (name: string) => {
    const inner = random.chance(0.35) ? `${name}!` : name
    if (!random.chance(0.35)) return inner
    const list = random.chance(0.2) ? `[[${inner}]${random.chance(0.4) ? '!' : ''}]` : `[${inner}]`
    return random.chance(0.3) ? `${list}!` : list
  }
  const inputOf = (allowed: readonly string[]): InputSpec => {
    const isInput = allowed.length > 0 && random.chance(0.35)
    const name = isInput ? random.pick(allowed) : random.pick(scalars)
    const type = wrap(name)
    if (isInput && !random.chance(0.3)) {
      // One that holds itself must be able to end.
      return { type: type.replaceAll('!', '') }
    }
    if (!random.chance(0.4)) return isInput ? { type: type.replaceAll('!', '') } : { type }
    return { type, default: defaultOf(type) }
  }
  const defaultOf = (type: string): unknown => {
    if (!type.endsWith('!') && random.chance(0.1)) return null
    const bare = type.replace(/!$/, '')
    if (bare.startsWith('[')) {
      const item = bare.slice(1, -1)
      return Array.from({ length: random.below(3) }, () => defaultOf(item))
    }
    if (bare.startsWith('In')) return {}
    return scalarValue(random, bare)
  }
  const inputs: SchemaSpec['inputs'] = {}
  for (const name of inputNames) {
    const fields: Record<string, InputSpec> = {}
    for (const field of ['a', 'b', 'c', 'toString'].slice(0, 1 + random.below(4))) {
      const spec = inputOf(inputNames)
      // An empty object stands for the default of one, so none may need more than that.
      const isOpen = spec.default === undefined && spec.type.endsWith('!')
      // The default of one that holds itself would never end.
      const holdsInput = /In\d/.test(spec.type)
      fields[field] = isOpen || holdsInput ? { type: spec.type.replace(/!$/, '') } : spec
    }
    inputs[name] = fields
  }
  const fieldOf = (name: string): FieldSpec => {
    const args: Record<string, InputSpec> = {}
    for (const arg of ['x', 'y'].slice(0, random.below(3))) args[arg] = inputOf(inputNames)
    const type = wrap(random.chance(0.45) ? random.pick(objectNames) : random.pick(scalars))
    const by = random.pick(['resolver', 'resolver', 'loader', 'property', 'property', 'property'] as const)
    return { name, type, args: by === 'resolver' ? args : {}, by, isGuarded: random.chance(0.12) }
  }
  const objects = Object.fromEntries(
    objectNames.map((name) => [
      name,
      [{ ...fieldOf('n'), type: 'Int' }, ...['b', 'bc', 'c', 'length', 'f'].slice(0, 2 + random.below(4)).map(fieldOf)],
    ]),
  )
  const roots = ['r', 's', 'n_r', 't']
    .slice(0, 2 + random.below(3))
    .map((name) => ({ ...fieldOf(name), by: 'resolver' as const }))
  return { seed, inputs, objects, roots }
}

export function scalarValue(random: Random, type: string): unknown {
  switch (type) {
    case 'Int':
      return random.pick([0, 1, -7, 2 ** 31 - 1, 42])
    case 'Float':
      return random.pick([0, 1.5, -2.25e-7, 1e21, 3])
    case 'Boolean':
      return random.chance(0.5)
    case 'ID':
      return random.pick(['1', 'abc', ''])
    default:
      return random.pick(['', 'a', 'a "quoted" \\ text\n', 'ü\u2028😀'])
  }
}

export function createTestElements({ seed, inputs, objects, roots }: SchemaSpec): Element[] {
  const values = createValues(seed, objects)
  return [
    ...Object.entries(inputs).map(([name, fields]) => inputType({ name, fields })),
    ...Object.entries(objects).map(([name, fields]) =>
      objectType<object>({
        name,
        fields: Object.fromEntries(fields.map((field) => [field.name, elementField(values, name, field)])),
      }),
    ),
    ...roots.map((field) =>
      query({
        name: field.name,
        type: field.type,
        args: field.args,
        access: field.isGuarded ? 'authenticated' : 'public',
        resolve: (args) => values.resolve({ type: 'Query', field, source: undefined, args }),
      }),
    ),
  ]
}

function elementField(values: Values, type: string, field: FieldSpec): Field<object> {
  const rest = { type: field.type, args: field.args, ...(field.isGuarded && { access: 'authenticated' as const }) }
  if (field.by === 'property') return rest
  if (field.by === 'loader') {
    return {
      ...rest,
      load: async (sources) =>
        Promise.all(
          sources.map(async (source) => {
            try {
              return await values.resolve({ type, field, source, args: {} })
            } catch (error) {
              return error instanceof Error ? error : new Error('not loaded')
            }
          }),
        ),
    }
  }
  return { ...rest, resolve: (source, args) => values.resolve({ type, field, source, args }) }
}

/** Written and resolved without any of the code that is tested. */
export function createPlainSchema({ seed, inputs, objects, roots }: SchemaSpec): GraphQLSchema {
  const values = createValues(seed, objects)
  const written = [
    ...Object.entries(inputs).map(([name, fields]) => `input ${name} { ${writeInputs(fields, '\n')} }`),
    ...Object.entries({ ...objects, Query: roots }).map(
      ([name, fields]) => `type ${name} { ${fields.map(writeField).join('\n')} }`,
    ),
  ]
  const schema = buildSchema(written.join('\n'))
  for (const [type, fields] of Object.entries({ ...objects, Query: roots })) {
    for (const field of fields) {
      const defined = (schema.getType(type) as GraphQLObjectType).getFields()[field.name]
      if (!defined || (field.by === 'property' && !field.isGuarded)) continue
      const resolve = (source: object, args: object, context: Context, info: unknown) => {
        if (field.by !== 'property') return values.resolve({ type, field, source, args })
        if ((typeof source !== 'object' && typeof source !== 'function') || source === null) return undefined
        const property = (source as Record<string, unknown>)[field.name]
        return typeof property === 'function' ? property.call(source, args, context, info) : property
      }
      defined.resolve = !field.isGuarded
        ? field.by === 'loader'
          ? async (source: object, args: object, context: Context, info: unknown) =>
              resolve(source, args, context, info)
          : resolve
        : async (source: object, args: object, context: Context, info: unknown) => {
            if (!context.principal) throw refusals.unauthenticated()
            return resolve(source, args, context, info)
          }
    }
  }
  return schema
}

function writeField({ name, type, args }: FieldSpec): string {
  return Object.keys(args).length === 0 ? `${name}: ${type}` : `${name}(${writeInputs(args, ', ')}): ${type}`
}

function writeInputs(inputs: Record<string, InputSpec>, between: string): string {
  return Object.entries(inputs)
    .map(
      ([name, spec]) => `${name}: ${spec.type}${spec.default === undefined ? '' : ` = ${writeLiteral(spec.default)}`}`,
    )
    .join(between)
}

export function writeLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeLiteral).join(' ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${key}: ${writeLiteral(each)}`)
    .join(' ')} }`
}
