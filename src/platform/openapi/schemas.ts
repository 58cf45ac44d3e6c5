/** Converts schemas to plain JSON Schema: the `x-` rules become standard keywords or descriptions. */
import type { TSchema } from 'typebox'
import { type JsonSchema, schemaPath } from './document.ts'

export interface Schemas {
  /** Schemas with a title, which others refer to. */
  components: Record<string, JsonSchema>
  describe(schema: TSchema): JsonSchema
  /** Returns a reference if the schema has a title, otherwise the schema itself. */
  refer(schema: JsonSchema): JsonSchema
}

export function createSchemas(): Schemas {
  const components: Record<string, JsonSchema> = {}
  const describe = (schema: TSchema): JsonSchema => refer(toPlain(schema as JsonSchema))
  return { components, describe, refer }

  function toPlain(schema: JsonSchema): JsonSchema {
    const plain: JsonSchema = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword.startsWith('x-') || typeof value === 'function') continue
      plain[keyword] = convert(keyword, value)
    }
    return generalise({ ...plain, ...rulesOf(schema) })
  }

  /** Converts only keywords that contain schemas; defaults, examples and enums are data. */
  function convert(keyword: string, value: unknown): unknown {
    switch (keyword) {
      case 'properties':
      case 'patternProperties':
        return mapValues(value as Record<string, TSchema>, describe)
      case 'items':
      case 'additionalProperties':
      case 'not':
        return typeof value === 'object' && value !== null ? describe(value as TSchema) : value
      case 'anyOf':
      case 'allOf':
      case 'oneOf':
        return (value as TSchema[]).map(describe)
      default:
        return value
    }
  }

  function refer(schema: JsonSchema): JsonSchema {
    const { title } = schema
    if (typeof title !== 'string' || !/^[\w.-]+$/.test(title)) return schema
    const known = components[title]
    // A different schema with the same title is inlined.
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) return schema
    components[title] = schema
    return { $ref: schemaPath + title }
  }
}

function rulesOf(schema: JsonSchema): JsonSchema {
  const isNeverBlank = schema['x-not-blank'] === true
  const rules = checkedRules(schema['x-check'])
  const description = [schema.description, ...rules.map((rule) => `${rule}.`)].filter((text) => text !== undefined)
  return {
    ...(isNeverBlank && schema.type === 'string' && { minLength: schema.minLength ?? 1, pattern: '\\S' }),
    ...Object.assign({}, ...rules.map(keywordsOf)),
    ...(description.length > 0 && { description: description.join(' ') }),
  }
}

/** Finds the rules of a check by applying it to an empty text and to a very long one. */
function checkedRules(check: unknown): string[] {
  if (typeof check !== 'function') return []
  return [...new Set<string>([...check(''), ...check('x'.repeat(veryLong))])]
}

const veryLong = 10_000

/** The JSON Schema keywords of a rule, if there are any. */
function keywordsOf(rule: string): JsonSchema {
  if (rule === 'Must be a valid email address') return { format: 'email' }
  const [, bound, length] = /^Must be at (least|most) (\d{1,6}) (?:characters|bytes)$/.exec(rule) ?? []
  if (length === undefined) return {}
  // A limit in bytes is also a limit in characters.
  return bound === 'least' ? { minLength: Number(length) } : { maxLength: Number(length) }
}

/** Rewrites schemas to the forms that client generators support best. */
function generalise(schema: JsonSchema): JsonSchema {
  const { patternProperties, anyOf, ...rest } = schema
  const anyName = (patternProperties as Record<string, JsonSchema> | undefined)?.['^.*$']
  if (anyName) return { ...rest, additionalProperties: anyName }
  const [one, ...others] = anyOf?.filter(({ type }) => type !== 'null') ?? []
  const isNullable = anyOf?.some(({ type }) => type === 'null') && typeof one?.type === 'string'
  return isNullable && others.length === 0 ? { ...rest, ...one, type: [one.type as string, 'null'] } : schema
}

export function mapValues<From, To>(given: Readonly<Record<string, From>>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, map(value)])) as Record<string, To>
}

/** For names made from `/api/auth/login` or `Invalid credentials`. */
export function toPascalCase(words: string): string {
  const parts = words.split(/[^a-zA-Z0-9]+/)
  return parts.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
