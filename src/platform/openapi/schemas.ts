/** Schemas as clients get to see them: without our own rules, which are told in JSON Schema's words or in ours. */
import type { TSchema } from 'typebox'
import { type JsonSchema, schemaPath } from './document.ts'

export interface Schemas {
  /** The ones that have a title, which are written once and referred to. */
  components: Record<string, JsonSchema>
  describe(schema: TSchema): JsonSchema
  /** A reference to what has a title, and else the schema itself. */
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

  /** Only what holds schemas is looked into: a default, an example or an enumeration is data. */
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
    // Two that share a name and nothing else: the second is written where it stands.
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) return schema
    components[title] = schema
    return { $ref: schemaPath + title }
  }
}

function rulesOf(schema: JsonSchema): JsonSchema {
  const isNeverBlank = schema['x-not-blank'] === true || schema['x-not-blank-if-given'] === true
  const rules = checkedRules(schema['x-check'])
  const description = [schema.description, ...rules.map((rule) => `${rule}.`)].filter((text) => text !== undefined)
  return {
    ...(isNeverBlank && schema.type === 'string' && { minLength: schema.minLength ?? 1, pattern: '\\S' }),
    ...Object.assign({}, ...rules.map(keywordsOf)),
    ...(description.length > 0 && { description: description.join(' ') }),
  }
}

/** What is wrong with an empty text, and with a very long one, are the rules that every text must keep, as configured. */
function checkedRules(check: unknown): string[] {
  if (typeof check !== 'function') return []
  return [...new Set<string>([...check(''), ...check('x'.repeat(veryLong))])]
}

const veryLong = 10_000

/** A rule of the API in the words of JSON Schema, as far as it has some. */
function keywordsOf(rule: string): JsonSchema {
  if (rule === 'Must be a valid email address') return { format: 'email' }
  const [, bound, length] = /^Must be at (least|most) (\d{1,6}) (?:characters|bytes)$/.exec(rule) ?? []
  if (length === undefined) return {}
  // No text has fewer bytes than characters.
  return bound === 'least' ? { minLength: Number(length) } : { maxLength: Number(length) }
}

/** In the forms that generators of clients know best. */
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

/** `/api/auth/login` and `Invalid credentials` as names. */
export function toPascalCase(words: string): string {
  const parts = words.split(/[^a-zA-Z0-9]+/)
  return parts.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
