/** The kinds of fields of a collection. Their types make `Row` and `NewRow`. */
import type { Static, TSchema } from 'typebox'
import type { Feature } from '../../platform/feature.ts'
import type { me, now, onCreate, Rule } from './rules.ts'

export type Kind =
  | 'text'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'choice'
  | 'time'
  | 'day'
  | 'email'
  | 'url'
  | 'json'
  | 'list'
  | 'belongsTo'
  | 'hasMany'
  | 'computed'

export interface FieldOptions {
  optional?: boolean
  /** A value; `me` for the user who makes the request, `now` for its time. */
  default?: unknown
  /** Among rows that are not deleted. */
  unique?: boolean
  /** The same among rows that agree in this field. */
  uniqueWithin?: string
  readable?: Rule
  writable?: Rule | typeof onCreate
  /** The name that the field had before. */
  was?: string
  /** What existing rows get where a change of the declaration leaves them without a value that fits. */
  backfill?: unknown
  label?: string
  help?: string
}

export interface TextOptions extends FieldOptions {
  min?: number
  max?: number
  multiline?: boolean
}

export interface NumberOptions extends FieldOptions {
  min?: number
  max?: number
}

export interface DecimalOptions extends NumberOptions {
  /** Digits after the point. */
  scale: number
}

export interface RelationOptions extends FieldOptions {
  /** What happens to this row when the related one is deleted. By default the deletion is refused. */
  onDelete?: 'refuse' | 'clear' | 'delete'
}

export interface JsonOptions extends FieldOptions {
  /** What a value must match. Properties that it does not name are dropped. By default any JSON. */
  schema?: TSchema
  /** Types of the GraphQL schema, instead of a text with JSON: such as `[OrderItem!]` and, in inputs, `[OrderItemInput!]`. */
  graphql?: { type: string; input?: string }
}

export interface ListOptions extends Omit<FieldOptions, 'optional' | 'default' | 'unique' | 'uniqueWithin'> {
  /** Items at most. */
  max?: number
}

export type AnyFieldOptions = FieldOptions &
  Partial<Pick<DecimalOptions, 'min' | 'max' | 'scale'>> &
  Pick<TextOptions, 'multiline'> &
  Pick<JsonOptions, 'schema' | 'graphql'> &
  Pick<RelationOptions, 'onDelete'>

/** A field as it was declared. */
export interface FieldDefinition {
  readonly kind: Kind
  readonly options: AnyFieldOptions
  /** Of a choice. */
  readonly values?: readonly string[]
  /** Of a list. */
  readonly item?: FieldDefinition
  /** Of `belongsTo`: a collection or the feature `users`. */
  readonly target?: unknown
  /** Of `hasMany`: the collection, and its field that refers to this one. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Many
  readonly many?: { readonly of: () => any; readonly by: string }
  /** Of `computed`: its type, how it is calculated, and whether it is stored. */
  readonly computed?: { readonly type: FieldDefinition; readonly isStored: boolean; of(row: never): unknown }
}

declare const type: unique symbol

type AnyGiven = 'must' | 'may' | 'cannot'

/** `Given` says whether a new row must have it, may have it, or cannot; `Bounds`, whether filters can be ranges of values. */
export interface Field<Value = unknown, Given extends AnyGiven = AnyGiven, Bounds extends boolean = boolean>
  extends FieldDefinition {
  readonly [type]?: { value: Value; given: Given; bounds: Bounds }
}

/** Refers to a row of `Target`. */
export interface Relation<Target, Value, Given extends AnyGiven> extends Field<Value, Given, false> {
  readonly target: Target
}

/** Refers to several rows of `Target`. */
export interface RelationList<Target, Given extends AnyGiven> extends Field<number[], Given, false> {
  readonly kind: 'list'
  readonly item: Relation<Target, number, 'must'>
}

/** Nothing but `kind` may be looked at before all collections are declared: they refer to each other. */
// biome-ignore lint/suspicious/noExplicitAny: with unknown, TypeScript would look at a collection that is declared further down
export interface Many<Of extends () => any> extends Field<never, 'cannot', false> {
  readonly kind: 'hasMany'
  readonly many: { readonly of: Of; readonly by: string }
}

type ValueOf<Value, Options> = Options extends { optional: true } ? Value | null : Value
type GivenOf<Options> = Options extends { writable: { kind: 'never' } }
  ? 'cannot'
  : Options extends { optional: true } | { default: unknown }
    ? 'may'
    : 'must'

/** `default` has the type of the field, or is `me` or `now`. */
type Defaulting<Options, Default> = Omit<Options, 'default'> & { default?: Default }
type None = Record<never, never>

type JsonOf<Options> = Options extends { schema: infer Schema extends TSchema } ? Static<Schema> : unknown

export function text<const Options extends Defaulting<TextOptions, string> = None>(
  options?: Options,
): Field<ValueOf<string, Options>, GivenOf<Options>, false> {
  return { kind: 'text', options: options ?? {} }
}

export function integer<const Options extends Defaulting<NumberOptions, number> = None>(
  options?: Options,
): Field<ValueOf<number, Options>, GivenOf<Options>, true> {
  return { kind: 'integer', options: options ?? {} }
}

/** An exact number. */
export function decimal<const Options extends Defaulting<DecimalOptions, number>>(
  options: Options,
): Field<ValueOf<number, Options>, GivenOf<Options>, true> {
  return { kind: 'decimal', options }
}

export function boolean<const Options extends Defaulting<FieldOptions, boolean> = None>(
  options?: Options,
): Field<ValueOf<boolean, Options>, GivenOf<Options>, false> {
  return { kind: 'boolean', options: options ?? {} }
}

export function choice<
  const Values extends readonly [string, ...string[]],
  const Options extends Defaulting<FieldOptions, Values[number]> = None,
>(values: Values, options?: Options): Field<ValueOf<Values[number], Options>, GivenOf<Options>, false> {
  return { kind: 'choice', values, options: options ?? {} }
}

/** ISO 8601 in UTC. */
export function time<const Options extends Defaulting<FieldOptions, string | typeof now> = None>(
  options?: Options,
): Field<ValueOf<string, Options>, GivenOf<Options>, true> {
  return { kind: 'time', options: options ?? {} }
}

/** `YYYY-MM-DD`. */
export function day<const Options extends Defaulting<FieldOptions, string | typeof now> = None>(
  options?: Options,
): Field<ValueOf<string, Options>, GivenOf<Options>, true> {
  return { kind: 'day', options: options ?? {} }
}

export function email<const Options extends Defaulting<FieldOptions, string> = None>(
  options?: Options,
): Field<ValueOf<string, Options>, GivenOf<Options>, false> {
  return { kind: 'email', options: options ?? {} }
}

export function url<const Options extends Defaulting<FieldOptions, string> = None>(
  options?: Options,
): Field<ValueOf<string, Options>, GivenOf<Options>, false> {
  return { kind: 'url', options: options ?? {} }
}

export function json<const Options extends JsonOptions = None>(
  options?: Options,
): Field<ValueOf<JsonOf<Options>, Options>, GivenOf<Options>, false> {
  return { kind: 'json', options: options ?? {} }
}

type GivenOfList<Options> = Options extends { writable: { kind: 'never' } } ? 'cannot' : 'may'

/** Items of a kind: `list(text({ max: 40 }), { max: 20 })`, or `list(belongsTo(users))`. */
export function list<Target, const Options extends ListOptions = None>(
  item: Relation<Target, number, 'must'>,
  options?: Options,
): RelationList<Target, GivenOfList<Options>>
export function list<Value, const Options extends ListOptions = None>(
  item: Field<Value, 'must'>,
  options?: Options,
): Field<Value[], GivenOfList<Options>, false>
export function list(item: Field, options: ListOptions = {}): Field {
  return { kind: 'list', item, options }
}

// biome-ignore lint/suspicious/noExplicitAny: a collection of any fields, or a feature with any service; functions as in Many
export type RelationTarget = Feature<any> | (() => any)

/** The id of a row of another collection, or of a user. `() => tickets` refers to the collection that is being declared. */
export function belongsTo<
  const Target extends RelationTarget,
  const Options extends Defaulting<RelationOptions, number | typeof me> = None,
>(target: Target, options?: Options): Relation<Target, ValueOf<number, Options>, GivenOf<Options>> {
  return { kind: 'belongsTo', target, options: options ?? {} }
}

/** The rows of another collection whose field `by` refers to this one. For `include` and GraphQL; nothing is stored. */
// biome-ignore lint/suspicious/noExplicitAny: with unknown, TypeScript would look at a collection that is declared further down
export function hasMany<const Of extends () => any>(of: Of, by: string): Many<Of> {
  return { kind: 'hasMany', options: {}, many: { of, by } }
}

export interface ComputedOptions
  extends Pick<FieldOptions, 'readable' | 'unique' | 'uniqueWithin' | 'was' | 'label' | 'help'> {
  stored?: boolean
}

/**
 * Calculated from the row's other fields: when it is returned, or with `stored` when it is written. Then it can be sorted,
 * filtered and searched. Options are given with the type or beside `stored`.
 */
export function computed<Value, Bounds extends boolean>(
  type: Field<Value, AnyGiven, Bounds>,
  // biome-ignore lint/suspicious/noExplicitAny: the row's type is that of the fields around it
  of: (row: any) => Value,
  { stored = false, ...given }: ComputedOptions = {},
): Field<Value, 'cannot', Bounds> {
  const { readable, unique, uniqueWithin, was, label, help } = { ...type.options, ...given }
  const options = Object.fromEntries(
    Object.entries({ readable, unique, uniqueWithin, was, label, help }).filter(([, value]) => value !== undefined),
  )
  return { kind: 'computed', options, computed: { type, isStored: stored, of } }
}
