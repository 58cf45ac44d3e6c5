/**
 * Schemas as TypeBox makes them, by its types. TypeBox itself is 370 files, which every command would read before it does
 * anything: a fifth of a second, for the dozen functions here. What either makes fits into what the other makes.
 */
import type { TSchema, Type as TypeBox } from 'typebox'

type Used =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'

type Schema = Record<string, unknown>

const plain =
  (kind: string, schema: Schema) =>
  (options: Schema = {}) =>
    hide({ ...schema, ...options }, { '~kind': kind })

const builders: Record<Used, unknown> = {
  Array: (items: TSchema, options?: Schema) => plain('Array', { type: 'array', items })(options),
  Boolean: plain('Boolean', { type: 'boolean' }),
  Integer: plain('Integer', { type: 'integer' }),
  Literal: (value: string | number | boolean, options?: Schema) =>
    plain('Literal', { type: typeof value, const: value })(options),
  Null: plain('Null', { type: 'null' }),
  Number: plain('Number', { type: 'number' }),
  Object(properties: Record<string, TSchema>, options?: Schema) {
    const required = Object.keys(properties).filter((name) => !('~optional' in (properties[name] as TSchema)))
    return plain('Object', { type: 'object', ...(required.length > 0 && { required }), properties })(options)
  },
  Optional: (schema: TSchema) => hide({ ...schema }, { ...hiddenOf(schema), '~optional': true }),
  /** By texts, which is what fields are named by. */
  Record: (_key: TSchema, value: TSchema, options?: Schema) =>
    plain('Record', { type: 'object', patternProperties: { '^.*$': value } })(options),
  String: plain('String', { type: 'string' }),
  Union: (anyOf: TSchema[], options?: Schema) => plain('Union', { anyOf })(options),
  Unknown: plain('Unknown', {}),
}

export const Type = builders as Pick<typeof TypeBox, Used>

/** What is not for readers of the schema. */
function hide(schema: Schema, hidden: Schema): Schema {
  for (const [name, value] of Object.entries(hidden)) {
    Object.defineProperty(schema, name, { value, enumerable: false, configurable: true, writable: true })
  }
  return schema
}

function hiddenOf(schema: TSchema): Schema {
  return '~kind' in schema ? { '~kind': schema['~kind'] } : {}
}
