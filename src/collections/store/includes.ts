/** Reads the rows that rows refer to, or that refer to them: one statement for each relation, whatever the number of rows. */
import type { Database, Value } from '../../platform/database/database.ts'
import { toIdList } from '../../platform/database/id-lists.ts'
import { Params } from '../../platform/listing/list-params.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { type Actor, type Row, readerOf } from '../actor.ts'
import type { Described, DescribedField } from '../declare/describe.ts'
import { quote } from '../schema/tables.ts'
import type { ReadRow, Registry } from '../service.ts'
import { readUsers } from './users.ts'

/** Relations by name, and what is included with each of their rows. */
export type IncludeTree = ReadonlyMap<string, IncludeTree>

/** A row of a collection or a user, with what is included. */
export interface Included {
  of: Described
  row: Row
  /** By relation: a row or null, or a list of rows. */
  included?: Readonly<Record<string, Included | null | readonly Included[]>>
}

const maxLevels = 3
const maxIncludes = 20
/** Of the rows that refer to one row. */
const maxOfMany = 100
/** In a response, where a row counts as often as it is included. */
const maxIncluded = 20_000

export function includableOf({ fields }: Described): DescribedField[] {
  return [...fields.values()].filter(({ target, many }) => target !== undefined || many !== undefined)
}

/** `team,comments.author`. Throws 422. */
export function readInclude(given: unknown, collection: Described): IncludeTree {
  const tree = new Map<string, IncludeTree>()
  if (given === undefined || given === '') return tree
  const paths = typeof given === 'string' ? given.split(',') : []
  const fail = (message: string) => validationFailed({ include: [message] })
  if (paths.length === 0 || paths.length > maxIncludes)
    throw fail(`Must be at most ${maxIncludes} relations, separated by commas`)
  for (const path of paths) {
    let [at, of]: [Map<string, IncludeTree>, Described] = [tree, collection]
    const names = path.trim().split('.')
    if (names.length > maxLevels) throw fail(`Must be at most ${maxLevels} levels deep`)
    for (const name of names) {
      const known = includableOf(of)
      const field = known.find((each) => each.name === name)
      if (!field) {
        const available = known.map((each) => each.name).join(', ')
        throw fail(available === '' ? `There is nothing to include with ${of.name}` : `Must be among ${available}`)
      }
      const next = (at.get(name) as Map<string, IncludeTree> | undefined) ?? new Map<string, IncludeTree>()
      at.set(name, next)
      ;[at, of] = [next, field.many?.of ?? (field.target as Described)]
    }
  }
  return tree
}

export interface IncludesDeps {
  db: Database
  registry: Registry
}

export function createIncludes({ db, registry }: IncludesDeps) {
  /** By id. Rows that the actor may not read are missing. */
  async function readByIds(target: Described, ids: readonly number[], actor: Actor): Promise<Map<number, Row>> {
    const wanted = [...new Set(ids)]
    if (wanted.length === 0) return new Map()
    if (!target.rules) return readUsers(db, wanted, actor)
    const params = new Params()
    const list = listed('target.id', wanted, params)
    const rows = await readRows(target, { list, params, by: undefined }, actor)
    return new Map(rows.map((row) => [row.row.id, row.row]))
  }

  function listed(column: string, ids: readonly number[], params: Params): string {
    const list = params.add(toIdList(db, ids))
    return db.dialect === 'sqlite'
      ? `${column} IN (SELECT value FROM json_each(${list}))`
      : `${column} = ANY (CAST(${list} AS BIGINT[]))`
  }

  interface Wanted {
    list: string
    params: Params
    /** The field that refers to others, of which each gets its first rows. */
    by: string | undefined
  }

  async function readRows(target: Described, { list, params, by }: Wanted, actor: Actor): Promise<ReadRow[]> {
    const service = registry.get(target)
    if (!service) return []
    const { statements } = service
    const reader = readerOf(actor, target)
    const rule = statements.readable(reader.principal, params)
    if (rule === false) return []
    const conditions = [list, 'target.deleted_at IS NULL', ...(rule === true ? [] : [rule])].join(' AND ')
    const flags = statements.readableFlags(reader.principal, params)
    const columns = `${statements.returned}${flags}`
    const from = `FROM ${quote(target.table)} AS target WHERE ${conditions}`
    const sql =
      by === undefined
        ? `SELECT ${columns} ${from}`
        : `SELECT * FROM (SELECT ${columns}, row_number() OVER (PARTITION BY ${quote(by)} ORDER BY id) AS place ${from}) AS ranked
            WHERE place <= ${params.add(maxOfMany)} ORDER BY id`
    const rows = await db.all<Record<string, unknown>>(sql, params.values as Value[])
    return rows.map((row) => service.toRead(row, reader))
  }

  /** With each of the rows, in their order. Throws 422 for more than a response can hold. */
  async function includeAll(
    of: Described,
    rows: readonly Row[],
    shape: { tree: IncludeTree; actor: Actor },
  ): Promise<Included[]> {
    const made = await include(of, rows, shape)
    requireFew(countRows(made, maxIncluded))
    return made
  }

  async function include(
    of: Described,
    rows: readonly Row[],
    { tree, actor }: { tree: IncludeTree; actor: Actor },
  ): Promise<Included[]> {
    requireFew(rows.length)
    if (tree.size === 0) return rows.map((row) => ({ of, row }))
    const finders = await Promise.all(
      [...tree].map(async ([name, nested]) => {
        const field = of.fields.get(name) as DescribedField
        const find = field.many
          ? await includeMany(field.many, rows, { tree: nested, actor })
          : await includeTargets(field, rows, { tree: nested, actor })
        return [name, find] as const
      }),
    )
    // In the order of the request, not that in which they were found: an ETag stands for the text.
    return rows.map((row) => ({
      of,
      row,
      included: Object.fromEntries(finders.map(([name, find]) => [name, find(row)])),
    }))
  }

  async function includeTargets(
    field: DescribedField,
    rows: readonly Row[],
    { tree, actor }: { tree: IncludeTree; actor: Actor },
  ) {
    const target = field.target as Described
    const idsOf = (row: Row) => [row[field.name] ?? []].flat() as number[]
    const found = [...(await readByIds(target, rows.flatMap(idsOf), actor)).values()]
    const included = new Map((await include(target, found, { tree, actor })).map((each) => [each.row.id, each]))
    return (row: Row) => {
      if (field.kind === 'list') return idsOf(row).flatMap((id) => included.get(id) ?? [])
      return included.get(row[field.name] as number) ?? null
    }
  }

  /** The first rows that refer to each of these. */
  async function readReferring(
    { of, by }: NonNullable<DescribedField['many']>,
    ids: readonly number[],
    actor: Actor,
  ): Promise<ReadonlyMap<unknown, readonly Row[]>> {
    if (ids.length === 0) return new Map()
    const params = new Params()
    const list = listed(`target.${quote(by)}`, ids, params)
    const found = await readRows(of, { list, params, by }, actor)
    return Map.groupBy(
      found.map(({ row }) => row),
      (row) => row[by],
    )
  }

  async function includeMany(
    many: NonNullable<DescribedField['many']>,
    rows: readonly Row[],
    { tree, actor }: { tree: IncludeTree; actor: Actor },
  ) {
    const ids = rows.map(({ id }) => id)
    const found = [...(await readReferring(many, ids, actor)).values()].flat()
    const included = await include(many.of, found, { tree, actor })
    const byOwner = Map.groupBy(included, ({ row }) => row[many.by])
    return (row: Row) => byOwner.get(row.id) ?? []
  }

  return { include: includeAll, readByIds, readReferring }
}

function requireFew(rows: number): void {
  if (rows > maxIncluded)
    throw validationFailed({ include: [`Must be at most ${maxIncluded} rows in all; ask for fewer per page`] })
}

/** Stops counting beyond `most`. */
function countRows(rows: readonly Included[], most: number): number {
  let count = rows.length
  for (const { included = {} } of rows) {
    for (const each of Object.values(included)) {
      if (count > most) return count
      count += countRows([each ?? []].flat(), most - count)
    }
  }
  return count
}

export type Includes = ReturnType<typeof createIncludes>
