/**
 * Builds TypeBox schemas, with its types. Loading TypeBox itself (370 files) would add a fifth of a second to every command,
 * for the dozen functions here. Schemas of both can be combined.
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
  /** The key type is ignored: keys are strings. */
  Record: (_key: TSchema, value: TSchema, options?: Schema) =>
    plain('Record', { type: 'object', patternProperties: { '^.*$': value } })(options),
  String: plain('String', { type: 'string' }),
  Union: (anyOf: TSchema[], options?: Schema) => plain('Union', { anyOf })(options),
  Unknown: plain('Unknown', {}),
}

export const Type = builders as Pick<typeof TypeBox, Used>

/** Adds properties that do not appear in the serialised schema. */
function hide(schema: Schema, hidden: Schema): Schema {
  for (const [name, value] of Object.entries(hidden)) {
    Object.defineProperty(schema, name, { value, enumerable: false, configurable: true, writable: true })
  }
  return schema
}

function hiddenOf(schema: TSchema): Schema {
  return '~kind' in schema ? { '~kind': schema['~kind'] } : {}
}
