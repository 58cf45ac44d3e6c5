/** Rows of collections: reads, writes, and what changes. Typed by the declarations, or by nothing. */
import type { ChangesOptions, FollowChanges } from './changes.ts'
import { type CollectionCopy, type CopyOptions, createCopy } from './copy.ts'
import type { Send } from './send.ts'
import { randomKey } from './waiting.ts'

/** What a declaration says of a collection. */
export interface CollectionTypes {
  name: string
  row: object
  new: object
  sort: string
  filter: string
  /** Fields whose filters can be ranges of values. */
  bounds: string
  /** By name: `{ of, isList }`. */
  relations: object
}

/** Of a collection about which nothing is known. */
export interface AnyTypes {
  name: string
  row: { id: number; created_at: string; updated_at: string } & Record<string, unknown>
  new: Record<string, unknown>
  sort: string
  filter: string
  bounds: string
  relations: Record<string, { of: { readonly types?: AnyTypes }; isList: boolean }>
}

type TypesOf<Declared> = Declared extends { readonly types?: infer Types }
  ? NonNullable<Types> extends CollectionTypes
    ? NonNullable<Types>
    : never
  : never

/** By name, those of a module that exports collections. */
export type CollectionsOf<Module> = {
  [Types in TypesOf<Module[keyof Module]> as Types['name']]: Types
}

type Value<Types extends CollectionTypes, Field> = Field extends keyof Types['row']
  ? NonNullable<Types['row'][Field]>
  : unknown
type Item<Type> = Type extends readonly (infer Each)[] ? Each : Type
type Bounds<Type> = Type extends string | number ? { gt?: Type; gte?: Type; lt?: Type; lte?: Type } : never

type RelationOf<Types extends CollectionTypes, Name> = Name extends keyof Types['relations']
  ? Types['relations'][Name] extends { of: infer Of; isList: infer IsList }
    ? { of: TypesOf<Of>; isList: IsList }
    : never
  : never

/** `team`, or `comments.author`: up to three levels. */
export type IncludePath<Types extends CollectionTypes, Levels extends 0[] = [0, 0]> = string extends Types['name']
  ? string
  : {
      [Name in keyof Types['relations'] & string]:
        | Name
        | (Levels extends [0, ...infer Rest extends 0[]]
            ? `${Name}.${IncludePath<RelationOf<Types, Name>['of'], Rest>}`
            : never)
    }[keyof Types['relations'] & string]

type HeadOf<Path> = Path extends `${infer Head}.${string}` ? Head : Path
type RestOf<Path, Head extends string> = Path extends `${Head}.${infer Rest}` ? Rest : never

/** By relation: a row or null, or a list of rows. */
type Included<Types extends CollectionTypes, Path> = {
  [Name in HeadOf<Path> & string]: RelationOf<Types, Name> extends {
    of: infer Of extends CollectionTypes
    isList: infer IsList
  }
    ? IsList extends true
      ? ReadRow<Of, RestOf<Path, Name>>[]
      : ReadRow<Of, RestOf<Path, Name>> | null
    : never
}

export interface ListQuery<Types extends CollectionTypes, Include extends string = never> {
  sort?: Types['sort'] | `-${Types['sort']}`
  /** A value, one of several, `null`, or bounds. */
  filter?: {
    [Field in Types['filter']]?:
      | Item<Value<Types, Field>>
      | readonly (Item<Value<Types, Field>> | null)[]
      | (Field extends Types['bounds'] ? Bounds<Value<Types, Field>> : never)
      | null
  }
  q?: string
  cursor?: string
  page?: number
  per_page?: number
  count?: 'exact'
  include?: readonly Include[]
}

export type ReadRow<Types extends CollectionTypes, Include extends string = never> = Types['row'] &
  ([Include] extends [never]
    ? unknown
    : { included: string extends Types['name'] ? Record<string, unknown> : Included<Types, Include> })

export interface RowList<Types extends CollectionTypes, Include extends string = never> {
  data: ReadRow<Types, Include>[]
  meta: { total: number | null; per_page: number; next: string | null; prev: string | null }
  /** Where `changes()` goes on, so that nothing is missed. */
  cursor: string
}

export type RowChange<Types extends CollectionTypes> = Partial<Types['new']>

export interface RowVersion {
  version: number
  type: string
  at: string
  actor: { id: number; name: string } | null
  changes: Record<string, [unknown, unknown]>
}

/** An entry of the log. A row that has left has only its id; a reset has none. */
export interface CollectionChange<Types extends CollectionTypes = AnyTypes> {
  cursor: string
  type: string
  at: string
  version?: number
  id: number | null
  row: Types['row'] | null
}

/** As the API answers. */
interface Resource {
  id: number
  type: string
  attributes: Record<string, unknown>
  included?: Record<string, Resource | Resource[] | null>
}

export interface CollectionDeps {
  send: Send
  follow: FollowChanges
}

export interface MatchOptions {
  /** The ETag of the row as it was read. If it has changed since, an error with status 412 is thrown. */
  ifMatch?: string
}

export type CollectionClient<Types extends CollectionTypes = AnyTypes> = ReturnType<typeof createCollection<Types>>

export function createCollection<Types extends CollectionTypes>(
  { send, follow }: CollectionDeps,
  name: string,
  { path = `/api/${name}` }: { path?: string } = {},
) {
  type Row = Types['row']

  async function readOne(sent: Promise<{ body: { data: Resource }; headers: Headers }>) {
    const { body, headers } = await sent
    return { ...(flatten(body.data) as Row), etag: headers.get('etag') ?? undefined }
  }

  const matching = ({ ifMatch }: MatchOptions): { headers?: Record<string, string> } =>
    ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } }

  async function list<const Include extends IncludePath<Types> = never>(
    query: ListQuery<Types, Include> = {},
  ): Promise<RowList<Types, Include>> {
    const { body, headers } = await send<{ data: Resource[]; meta: RowList<Types>['meta'] }>(path + toSearch(query))
    const data = body.data.map((each) => flatten(each) as ReadRow<Types, Include>)
    return { data, meta: body.meta, cursor: headers.get('x-cursor') ?? '' }
  }

  /** Every change after the cursor, in order, without end: see `changes` of the client. */
  async function* changes(after?: string, options: ChangesOptions = {}): AsyncGenerator<CollectionChange<Types>, void> {
    for await (const entry of follow(`${path}/changes`, after, options)) {
      const { cursor, type, at, version } = entry
      const data = entry.data as Partial<Resource> | null
      const row = data?.attributes ? (flatten(data as Resource) as Row) : null
      yield { cursor, type, at, id: data?.id ?? null, row, ...(version !== undefined && { version }) }
    }
  }

  const client = {
    list,
    changes,

    async get<const Include extends IncludePath<Types> = never>(
      id: number,
      { include }: { include?: readonly Include[] } = {},
    ): Promise<ReadRow<Types, Include> & { etag: string | undefined }> {
      const found = await readOne(send(`${path}/${id}${toSearch({ include })}`))
      return found as ReadRow<Types, Include> & { etag: string | undefined }
    },

    /** Sent again if the answer is lost; with the same key, the service creates one row. */
    create: (values: Types['new'], { idempotencyKey = randomKey() } = {}) =>
      readOne(send(path, { method: 'POST', body: values, headers: { 'idempotency-key': idempotencyKey } })),

    /** Applied once, however often it is sent with the same key. */
    update: (
      id: number,
      change: RowChange<Types>,
      { idempotencyKey = randomKey(), ...options }: MatchOptions & { idempotencyKey?: string } = {},
    ) => {
      const headers = { 'idempotency-key': idempotencyKey, ...matching(options).headers }
      return readOne(send(`${path}/${id}`, { method: 'PATCH', body: change, headers }))
    },

    async delete(id: number, options: MatchOptions = {}): Promise<void> {
      await send(`${path}/${id}`, { method: 'DELETE', ...matching(options) })
    },

    /** Undoes a deletion. */
    restore: (id: number) => readOne(send(`${path}/${id}/restore`, { method: 'POST' })),

    /** What has happened to a row, newest first. */
    versions: async (id: number): Promise<RowVersion[]> =>
      (await send<{ data: RowVersion[] }>(`${path}/${id}/versions`)).body.data,

    /** A live copy of the rows that you may read. */
    copy: (options: CopyOptions = {}): CollectionCopy<Types> =>
      createCopy<Types>(
        { ...client, list: (cursor) => list({ per_page: 100, ...(cursor !== undefined && { cursor }) }) },
        options,
      ),
  }
  return client
}

function flatten({ id, attributes, included }: Resource): object {
  const rows = Object.entries(included ?? {}).map(([relation, found]) => {
    const flat = Array.isArray(found) ? found.map(flatten) : found && flatten(found)
    return [relation, flat] as const
  })
  return { id, ...attributes, ...(included && { included: Object.fromEntries(rows) }) }
}

interface AnyQuery {
  filter?: Readonly<Record<string, unknown>> | undefined
  include?: readonly unknown[] | undefined
}

function toSearch({ filter = {}, include = [], ...rest }: AnyQuery): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) if (value !== undefined) search.set(name, String(value))
  for (const [field, value] of Object.entries(filter)) {
    if (value === undefined) continue
    if (typeof value !== 'object' || value === null) search.set(`filter[${field}]`, String(value))
    else if (Array.isArray(value)) search.set(`filter[${field}]`, value.map(String).join())
    else
      for (const [operator, bound] of Object.entries(value)) search.set(`filter[${field}][${operator}]`, String(bound))
  }
  if (include.length > 0) search.set('include', include.join())
  return search.size > 0 ? `?${search}` : ''
}
