/**
 * Builds TypeBox schemas, with its types. Loading TypeBox itself would add a seventh to the processor time of every start
 * (decision 0002), for the dozen functions here. Schemas of both can be combined.
 */
import type {
  Static,
  TArray,
  TArrayOptions,
  TBoolean,
  TInteger,
  TNumber,
  TNumberOptions,
  TObject,
  TOptional,
  TProperties,
  TSchema,
  TSchemaOptions,
  TString,
  TStringOptions,
  Type as TypeBox,
} from 'typebox'

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

/** TypeBox's types forget the options. Ours keep whether there is a default, which `Validated` looks for. */
type KeepDefault<Schema, Options> = Options extends { default: unknown } ? Schema & HasDefault : Schema

interface HasDefault {
  default: unknown
}

interface KeepingDefaults {
  Array<Item extends TSchema, Options extends TArrayOptions>(
    items: Item,
    options?: Options,
  ): KeepDefault<TArray<Item>, Options>
  Boolean<Options extends TSchemaOptions>(options?: Options): KeepDefault<TBoolean, Options>
  Integer<Options extends TNumberOptions>(options?: Options): KeepDefault<TInteger, Options>
  Number<Options extends TNumberOptions>(options?: Options): KeepDefault<TNumber, Options>
  String<Options extends TStringOptions>(options?: Options): KeepDefault<TString, Options>
}

export const Type = builders as Pick<typeof TypeBox, Exclude<Used, keyof KeepingDefaults>> & KeepingDefaults

/**
 * What a value of the schema is once it is validated. `Static` is what a client may send; here optional properties that
 * have a default are always there.
 */
export type Validated<Schema> =
  Schema extends TObject<infer Properties>
    ? ValidatedObject<Properties>
    : Schema extends TArray<infer Item>
      ? Validated<Item>[]
      : Schema extends TSchema
        ? Static<Schema>
        : unknown

type ValidatedObject<Properties extends TProperties> = Flat<
  { [Name in Exclude<keyof Properties, MaybeMissing<Properties>>]: Validated<Properties[Name]> } & {
    [Name in MaybeMissing<Properties>]?: Validated<Properties[Name]>
  }
>

type MaybeMissing<Properties extends TProperties> = {
  [Name in keyof Properties]: Properties[Name] extends TOptional<TSchema>
    ? Properties[Name] extends HasDefault
      ? never
      : Name
    : never
}[keyof Properties]

type Flat<Type> = { [Name in keyof Type]: Type[Name] }

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
