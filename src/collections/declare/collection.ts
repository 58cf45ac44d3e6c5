/** The types of declarations: names of fields, rows, and new rows, inferred without generated code. */
import type { Principal } from '../../platform/access/route-guards.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { AnyDefinition, Feature } from '../../platform/feature.ts'
import type { RulePrincipal } from '../rules/values.ts'
import type { Field, FieldDefinition, Many, Relation, RelationList } from './fields.ts'
import type { Action, Rule, Scalar } from './rules.ts'

export type Fields = Readonly<Record<string, FieldDefinition>>

type OwnNames = 'id' | 'created_at' | 'updated_at'
type Names<All extends Fields> = keyof All & string
/** Fields with a value of their own, which lists can be sorted and filtered by. */
type ValueNames<All extends Fields> = {
  [Name in Names<All>]: All[Name]['kind'] extends 'hasMany' ? never : Name
}[Names<All>]
type OfType<All extends Fields, Value> = {
  [Name in ValueNames<All>]: NonNullable<ValueOf<All[Name]>> extends Value ? Name : never
}[ValueNames<All>]
/** Neither lists nor JSON have an order. */
type SortNames<All extends Fields> = OfType<All, string | number | boolean>
type ListNames<All extends Fields> = OfType<All, readonly unknown[]>

export type SortOption<All extends Fields> = readonly (SortNames<All> | OwnNames)[]
export type FilterOption<All extends Fields> = readonly (SortNames<All> | ListNames<All> | OwnNames)[]

export interface CollectionOptions<
  Name extends string,
  All extends Fields,
  Sort extends SortOption<All> = SortOption<All>,
  Filter extends FilterOption<All> = FilterOption<All>,
> {
  /** The plural: lower-case words with hyphens. */
  name: Name
  singular?: string
  /** Instead of `/api/<name>`. */
  path?: `/${string}`
  fields: All
  rules?: Partial<Record<Action, Rule>>
  sort?: Sort
  filter?: Filter
  search?: readonly OfType<All, string>[]
  /** A condition that every stored row meets, and what to say otherwise. */
  check?: readonly [condition: Rule, message: string]
  /** How long deleted rows can be restored: `30d` by default; `false` deletes at once. */
  keepDeleted?: `${number}${'h' | 'd'}` | false
  /** The field that stands for a row in the console; by default the first text. */
  title?: ValueNames<All>
  /** Fields that are no longer declared, whose values may be deleted. */
  gone?: readonly string[]
  /** Fields that are no longer declared, whose columns nodes of the previous release still use: until `gone` names them. */
  kept?: readonly string[]
  /** The folder of the migrations, instead of `migrations/` next to the file that declares the collection. */
  migrations?: string
  /**
   * Called before a row is written, with the row as it would become. Returns further changes, or throws an AppError to reject.
   * The row is written only if it has not changed since it was read.
   */
  beforeWrite?(write: {
    before: StoredRow<All> | undefined
    after: Omit<StoredRow<All>, 'id'>
    /** Undefined for commands, jobs and listeners. */
    me: RulePrincipal | undefined
    services: Services
    config: Config
  }): Promise<Partial<StoredRow<All>> | undefined> | Partial<StoredRow<All>> | undefined | void | Promise<void>
  /** More statements in the same transaction. If one of them decides against it, nothing is written. */
  alongside?(write: {
    before: StoredRow<All> | undefined
    after: StoredRow<All> | undefined
    services: Services
    config: Config
  }): readonly Statement[]
}

/** Of `needs`, by name. A declaration that depends on the types of what it needs would be circular. */
// biome-ignore lint/suspicious/noExplicitAny: annotate it where it is used
type Services = any
/** The values of `config`, with those of the service. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type Config = any

/** With the fields that a reader may not see. */
type StoredRow<All extends Fields> = { id: number; created_at: string; updated_at: string } & {
  [Name in ValueNames<All>]: ValueOf<All[Name]>
}

/** What a collection adds as any other feature does. */
export type CollectionKeys = Partial<
  Pick<
    AnyDefinition,
    | 'needs'
    | 'uses'
    | 'config'
    | 'checkConfig'
    | 'auditEvents'
    | 'expiringTables'
    | 'countedLists'
    | 'roles'
    | 'policies'
    | 'routes'
    | 'elements'
    | 'events'
    | 'listeners'
    | 'pages'
    | 'commands'
    | 'jobs'
    | 'start'
    | 'onListening'
    | 'onForbidden'
  >
>

declare const declared: unique symbol

/** Without `as`, the service itself acts, which may do everything. */
export interface ActingOptions {
  as?: Principal
}

export interface ApiQuery {
  /** As in the REST API: a field, with `-` in front for descending. */
  sort?: string
  /** A value, one of several, `null`, or bounds such as `{ gte: 3 }`. */
  filter?: Readonly<
    Record<string, Scalar | null | readonly (Scalar | null)[] | Readonly<Record<string, Scalar>> | undefined>
  >
  q?: string
  cursor?: string
  perPage?: number
  count?: 'exact'
}

/** What other features get of a collection that they need, and its own routes, pages, commands and jobs. */
export interface CollectionApi<All extends Fields> {
  /** Of `needs`, by name. */
  readonly services: Services
  /** Rejects with 404 if there is no such row, or if it may not be read. */
  get(id: number, options?: ActingOptions): Promise<StoredRow<All>>
  list(
    query?: ApiQuery,
    options?: ActingOptions,
  ): Promise<{ rows: StoredRow<All>[]; total: number | null; next: string | null; prev: string | null }>
  create(
    values: Partial<Omit<StoredRow<All>, 'id' | 'created_at' | 'updated_at'>>,
    options?: ActingOptions & { idempotencyKey?: string },
  ): Promise<StoredRow<All>>
  update(
    id: number,
    changes: Partial<Omit<StoredRow<All>, 'id' | 'created_at' | 'updated_at'>>,
    options?: ActingOptions,
  ): Promise<StoredRow<All>>
  delete(id: number, options?: ActingOptions): Promise<void>
  /** Undoes a deletion. */
  restore(id: number, options?: ActingOptions): Promise<StoredRow<All>>
}

/** A feature that has a collection. */
export interface Collection<
  All extends Fields = Fields,
  Name extends string = string,
  Sort extends string = string,
  Filter extends string = string,
> extends Feature<CollectionApi<All>> {
  readonly [declared]?: { name: Name; fields: All }
  /** Never set. For clients, which do not know this package. */
  readonly types?: {
    name: Name
    row: Row<Collection<All, Name>>
    new: NewRow<Collection<All, Name>>
    sort: Sort | 'id'
    filter: Filter
    /** Fields whose filters can be ranges of values. */
    bounds: OwnNames | OfBounds<All>
    /** The collection that each relation refers to, and whether it may refer to several rows. */
    relations: {
      [Relation in IncludeNames<Collection<All, Name>>]: {
        of: CollectionOf<All[Relation]>
        isList: All[Relation] extends Many<() => unknown> | RelationList<unknown, 'may' | 'cannot'> ? true : false
      }
    }
  }
}

/** What clients know of users. */
interface RelatedUsers {
  readonly types?: {
    name: 'users'
    row: RelatedUser
    new: never
    sort: never
    filter: never
    bounds: never
    relations: Record<never, never>
  }
}

interface RelatedUser {
  id: number
  name: string
  email?: string
}

export type FieldsOf<Declared> = Declared extends { readonly [declared]?: { fields: infer All extends Fields } }
  ? All
  : never
type ValueOf<One> = One extends Field<infer Value, infer _Given> ? Value : never
type GivenOf<One> = One extends Field<infer _Value, infer Given> ? Given : never
type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** A row as it is returned. */
export type Row<Declared> = Flat<
  { id: number; created_at: string; updated_at: string } & {
    [Name in ValueNames<FieldsOf<Declared>>]: ValueOf<FieldsOf<Declared>[Name]>
  }
>

type GivenNames<All extends Fields, Given> = {
  [Name in ValueNames<All>]: GivenOf<All[Name]> extends Given ? Name : never
}[ValueNames<All>]

/** What creates a row: fields without a default have to be there, others may. */
export type NewRow<Declared> = Flat<
  { [Name in GivenNames<FieldsOf<Declared>, 'must'>]: ValueOf<FieldsOf<Declared>[Name]> } & {
    [Name in GivenNames<FieldsOf<Declared>, 'may'>]?: ValueOf<FieldsOf<Declared>[Name]>
  }
>

/** What changes a row. */
export type RowChange<Declared> = Partial<NewRow<Declared>>

/** The relations that can be included with a row. */
export type IncludeNames<Declared> = {
  [Name in Names<FieldsOf<Declared>>]: TargetOf<FieldsOf<Declared>[Name]> extends never ? never : Name
}[Names<FieldsOf<Declared>>]

type TargetOf<One> =
  One extends Many<infer Of>
    ? { row: Row<ReturnType<Of>>[] }
    : One extends RelationList<infer Target, 'may' | 'cannot'>
      ? { row: RelatedRow<Target>[] }
      : One extends Relation<infer Target, unknown, 'must' | 'may' | 'cannot'>
        ? { row: RelatedRow<Target> | null }
        : never

/** Of users, everybody sees the id and the name. */
type RelatedRow<Target> = FieldsOf<Resolved<Target>> extends never ? RelatedUser : Row<Resolved<Target>>

type Resolved<Target> = Target extends () => infer Later ? Later : Target

type CollectionOf<One> =
  One extends Many<infer Of>
    ? ReturnType<Of>
    : One extends RelationList<infer Target, 'may' | 'cannot'>
      ? CollectionOrUsers<Resolved<Target>>
      : One extends Relation<infer Target, unknown, 'must' | 'may' | 'cannot'>
        ? CollectionOrUsers<Resolved<Target>>
        : never

type CollectionOrUsers<Target> = FieldsOf<Target> extends never ? RelatedUsers : Target

type OfBounds<All extends Fields> = {
  [Name in ValueNames<All>]: All[Name] extends Field<unknown, 'must' | 'may' | 'cannot', infer Bounds>
    ? Bounds extends true
      ? Name
      : never
    : never
}[ValueNames<All>]

/** A row with the rows that it refers to; null or missing where the reader may not see them. */
export type RowWith<Declared, Included extends IncludeNames<Declared>> = Row<Declared> & {
  included: { [Name in Included]: TargetOf<FieldsOf<Declared>[Name]> extends { row: infer Found } ? Found : never }
}
