/** The GraphQL schema of a collection: the service and the rules of the REST API, with names in camel case. */
import { AppError } from '../../core/app-error.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import type { Database } from '../../platform/database/database.ts'
import { idIsListed, toIdList } from '../../platform/database/id-lists.ts'
import { readWithin } from '../../platform/graphql/execution/response-budget.ts'
import {
  type Context,
  type Element,
  type Field,
  inputType,
  mutation,
  objectType,
  query,
  subscription,
} from '../../platform/graphql/schema/elements.ts'
import type { Selection } from '../../platform/graphql/schema/selection.ts'
import { parseId } from '../../platform/http/ids.ts'
import { cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { exactNumbersOf, rememberExactNumbers, validationFailed } from '../../platform/validation/body-validation.ts'
import { actorOf, type Row } from '../actor.ts'
import type { ChangeView } from '../changes/view.ts'
import { comparedTypeOf, type Described, type DescribedField, valuesOf } from '../declare/describe.ts'
import type { FieldDefinition } from '../declare/fields.ts'
import type { Action } from '../declare/rules.ts'
import { accessOf } from '../rest/routes.ts'
import { describeRule } from '../rules/sentence.ts'
import { quote } from '../schema/tables.ts'
import { type CollectionService, etagOf, expectEtag, shownFieldsOf } from '../service.ts'
import type { Includes } from '../store/includes.ts'
import { isNotNull, operators } from '../store/list-filters.ts'
import { filtersOf, type GivenFilter, hasBounds } from '../store/lists.ts'
import { writableFieldsOf } from '../store/values.ts'

export interface CollectionElementsDeps {
  service: CollectionService
  includes: Includes
  view: ChangeView
  changes: ChangeLog
  db: Database
}

/** A row with its fields in camel case. Fields that the reader may not see are missing. */
type Fields = Readonly<Record<string, unknown>> & { readonly id: number }

const assumedOfMany = 20
const entriesPerRead = 100
const maxBytes = 64 * 1024

export const camel = (name: string) => name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (name: string) => `${(name[0] ?? '').toUpperCase()}${camel(name).slice(1)}`

/** Used by all collections; their elements are added once. */
export function createSharedElements(): Element[] {
  const bounds = (type: string) => ({
    eq: `[${type}]`,
    ...Object.fromEntries(Object.keys(operators).map((name) => [name, type])),
    isNull: 'Boolean',
  })
  return [
    objectType({
      name: 'RelatedUser',
      fields: { id: 'ID!', name: 'String!', email: { type: 'String', description: 'For those who may view users.' } },
    }),
    objectType({
      name: 'CursorMeta',
      fields: {
        total: { type: 'Int', description: 'Null if counting would take long; `count: "exact"` counts anyway.' },
        perPage: 'Int!',
        next: { type: 'String', description: 'The cursor of the next page.' },
        prev: 'String',
      },
    }),
    objectType({
      name: 'ChangeActor',
      fields: {
        id: 'ID!',
        key: { type: 'String', description: 'The API key, if it was none of their sessions.' },
        session: 'String',
      },
    }),
    inputType({ name: 'NumberFilter', checksNumbers: true, fields: bounds('Float') }),
    inputType({ name: 'TimeFilter', description: 'Days and times of ISO 8601.', fields: bounds('String') }),
  ]
}

export function createCollectionElements(deps: CollectionElementsDeps): Element[] {
  const { collection } = deps.service
  return [
    ...createTypes(deps),
    ...[...createQueries(deps), ...createMutations(deps)].map(withOwnNames),
    createSubscription(deps),
    ...createInputs(collection),
  ]
}

/** Details of errors have the names of the schema. */
function withOwnNames(element: Element): Element {
  if (element.kind !== 'query' && element.kind !== 'mutation') return element
  return {
    ...element,
    async resolve(...given) {
      try {
        return await element.resolve?.(...given)
      } catch (error) {
        const details = error instanceof AppError && (error.extra?.details as Record<string, string[]> | undefined)
        if (!details) throw error
        throw validationFailed(
          Object.fromEntries(Object.entries(details).map(([name, problems]) => [camel(name), problems])),
        )
      }
    },
  }
}

const describing = ({ options: { help, label } }: FieldDefinition) => {
  const description = help ?? label
  return description === undefined ? {} : { description }
}

const ruleOf = ({ rules }: Described, action: Action) => `Rule: ${describeRule(rules?.[action] ?? { kind: 'never' })}.`

function scalarOf(definition: FieldDefinition): string {
  const { kind, options, item } = definition.computed?.type ?? definition
  if (kind === 'list') return `[${scalarOf(item as FieldDefinition)}!]`
  if (options.graphql) return options.graphql.type
  if (kind === 'belongsTo') return 'ID'
  if (kind === 'boolean') return 'Boolean'
  if (kind === 'decimal') return 'Float'
  // Int has 32 bits.
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = options
  if (kind === 'integer') return min >= -(2 ** 31) && max < 2 ** 31 ? 'Int' : 'Float'
  return 'String'
}

function toFields(row: Row): Fields {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value])) as Fields
}

/** Of a field that the reader may not see, if that is not decided for all rows. */
function requireReadable(source: Fields, name: string): unknown {
  if (name in source) return source[name]
  throw new AppError(403, 'Forbidden')
}

function createTypes({ service, includes, db }: CollectionElementsDeps): Element[] {
  const { collection } = service
  const title = pascal(collection.singular)
  const fields: Record<string, string | Field<Fields>> = { id: 'ID!' }
  for (const field of shownFieldsOf(collection)) {
    const { name, kind, definition, target } = field
    const { readable, optional } = definition.options
    const isNullable = optional || kind === 'computed' || readable !== undefined
    const known = camel(name)
    const isJson = valuesOf(definition).kind === 'json'
    const read = (source: Fields) => {
      const value = requireReadable(source, known)
      if (!isJson || value === null || value === undefined) return value
      return definition.options.graphql ? renameKeys(value, camel) : JSON.stringify(value)
    }
    const scalar: Field<Fields> = {
      type: `${scalarOf(definition)}${isNullable ? '' : '!'}`,
      ...describing(definition),
      ...((readable || isJson) && { resolve: read }),
    }
    if (!target) {
      fields[known] = scalar
      continue
    }
    const isList = kind === 'list'
    // The ids, without loading what they refer to.
    fields[isList ? `${singularOf(known)}Ids` : `${known}Id`] = { ...scalar, resolve: read }
    const related = target.rules ? pascal(target.singular) : 'RelatedUser'
    fields[known] = {
      type: isList ? `[${related}!]!` : related,
      description: [definition.options.help, isList ? 'Those that you may read.' : 'Null if you may not read it.']
        .filter((each) => each !== undefined)
        .join(' '),
      ...(isList && { size: () => definition.options.max ?? assumedOfMany }),
      async load(sources, context) {
        const idsOf = (source: Fields) => [requireReadable(source, known) ?? []].flat() as number[]
        const found = await includes.readByIds(target, sources.flatMap(idsOf), actorOf(context.principal))
        const byId = new Map([...found].map(([id, row]) => [id, toFields(row)]))
        return sources.map((source) => {
          const rows = idsOf(source).flatMap((id) => byId.get(id) ?? [])
          return isList ? rows : (rows[0] ?? null)
        })
      },
    }
  }
  for (const { name, many } of collection.fields.values()) {
    if (!many) continue
    fields[camel(name)] = {
      type: `[${pascal(many.of.singular)}!]!`,
      description: 'Those that you may read, the first 100.',
      size: () => assumedOfMany,
      async load(sources, context) {
        const found = await includes.readReferring(
          many,
          sources.map(({ id }) => id),
          actorOf(context.principal),
        )
        return sources.map(({ id }) => (found.get(id) ?? []).map(toFields))
      },
    }
  }
  fields.etag = {
    type: 'String!',
    description: 'For `ifMatch`.',
    async load(sources) {
      const sql = `SELECT id, version, updated_at FROM ${quote(collection.table)} WHERE ${idIsListed(db)}`
      const rows = await db.all<{ id: number; version: number; updated_at: string }>(sql, [
        toIdList(
          db,
          sources.map(({ id }) => id),
        ),
      ])
      const byId = new Map(rows.map(({ id, version, updated_at }) => [id, etagOf(version, updated_at)]))
      return sources.map(({ id }) => byId.get(id) ?? '')
    },
  }
  return [
    objectType<Fields>({
      name: title,
      description: `A row of the collection ${collection.name}. ${ruleOf(collection, 'read')}`,
      fields,
    }),
    objectType({ name: `${title}List`, fields: { data: `[${title}!]!`, meta: 'CursorMeta!' } }),
    objectType({
      name: `${title}Change`,
      fields: {
        cursor: { type: 'String!', description: 'Where to go on after this change.' },
        type: {
          type: 'String!',
          description:
            `${collection.singular}.created, .updated, .deleted or .restored; .left for a row that you can no longer see; ` +
            `${collection.name}.reset where all may have changed: list again.`,
        },
        at: 'String!',
        version: { type: 'Int', description: 'Grows with every change of the row.' },
        id: { type: 'ID', description: 'Null of a reset.' },
        actor: { type: 'ChangeActor', description: 'For those with the permission audit.view.' },
        [camel(collection.singular)]: {
          type: title,
          description: 'After the change; a deleted row as it last was. Null of a row that has left, and of a reset.',
        },
      },
    }),
  ]
}

const singularOf = (name: string) => (name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, ''))

function createInputs(collection: Described): Element[] {
  const title = pascal(collection.singular)
  const writable = writableFieldsOf(collection)
  const given = Object.fromEntries(
    writable.map(({ name, definition }) => {
      const { graphql } = definition.options
      const type = graphql ? (graphql.input ?? 'String') : scalarOf(definition)
      return [camel(name), { type, ...describing(definition) }]
    }),
  )
  const filters = Object.fromEntries(filtersOf(collection).map((field) => [camel(field.name), filterTypeOf(field)]))
  return [
    inputType({
      name: `Create${title}Input`,
      description: 'The rules are those of the REST API, which says what is missing.',
      checksNumbers: true,
      fields: given,
    }),
    inputType({
      name: `Update${title}Input`,
      description: 'Only what is given is changed; null clears.',
      checksNumbers: true,
      fields: given,
    }),
    ...(Object.keys(filters).length > 0
      ? [inputType({ name: `${title}Filter`, description: 'All that is given must match.', fields: filters })]
      : []),
  ]
}

/** One value or several; of numbers, days and times an object with bounds. */
function filterTypeOf(field: DescribedField): string {
  if (hasBounds(field))
    return ['number', 'scaled'].includes(comparedTypeOf(field) ?? '') ? 'NumberFilter' : 'TimeFilter'
  const scalar = scalarOf(valuesOf(field.definition))
  return `[${scalar}]`
}

interface ListArgs {
  sort?: string | null
  filter?: Readonly<Record<string, unknown>> | null
  q?: string | null
  cursor?: string | null
  perPage?: number | null
  count?: string | null
}

function createQueries({ service }: CollectionElementsDeps): Element[] {
  const { collection } = service
  const title = pascal(collection.singular)
  const access = accessOf(collection, 'read')
  const hasFilters = collection.lists.filter.length > 0
  return [
    query<ListArgs>({
      name: camel(collection.name),
      description: 'The rows that you may read, by page.',
      type: `${title}List`,
      args: {
        sort: { type: 'String', description: 'As in the REST API: a field, with - in front for descending.' },
        ...(hasFilters && { filter: `${title}Filter` }),
        ...(collection.lists.search.length > 0 && { q: 'String' }),
        cursor: 'String',
        perPage: 'Int',
        count: { type: 'String', description: '"exact" counts what is filtered, however many there are.' },
      },
      access,
      size: ({ perPage }) => Math.min(Math.max(perPage ?? 20, 1), 100),
      async resolve(args, context, { selection }) {
        const actor = actorOf(context.principal)
        service.requireDecided('read', actor)
        const given = {
          sort: args.sort ?? undefined,
          filters: toFilters(args.filter ?? {}, collection),
          q: args.q ?? undefined,
          cursor: args.cursor ?? undefined,
          per_page: args.perPage === null || args.perPage === undefined ? undefined : String(args.perPage),
          count: args.count ?? undefined,
        }
        let page: Awaited<ReturnType<CollectionService['list']>> | undefined
        const data = await readWithin({
          context,
          selection: selection().fields.get('data')?.selection,
          async read() {
            page = await service.list(given, actor)
            return page.rows.map(({ row }) => toFields(row))
          },
        })
        const { total, per_page, next, prev } = cursorMetaOf(
          page as NonNullable<typeof page>,
          page as NonNullable<typeof page>,
        )
        return { data, meta: { total, perPage: per_page, next, prev } }
      },
    }),

    query<{ id: string }>({
      name: camel(collection.singular),
      description: ruleOf(collection, 'read'),
      type: title,
      args: { id: 'ID!' },
      access,
      async resolve({ id }, context, { selection }) {
        const actor = actorOf(context.principal)
        service.requireDecided('read', actor)
        const fields = toFields((await service.get(parseId(id), actor)).row)
        await count(context, selection(), fields)
        return fields
      },
    }),
  ]
}

/** `{ status: "open", priority: { gte: 3 } }` as the REST API has it. */
function toFilters(filter: Readonly<Record<string, unknown>>, collection: Described): GivenFilter[] {
  return filtersOf(collection).flatMap((field): GivenFilter[] => {
    const label = camel(field.name)
    const given = filter[label]
    if (given === undefined) return []
    const base = { field: field.name, operator: undefined }
    const texts = (values: unknown) => [values].flat().map((value) => (value === null ? null : String(value)))
    if (!hasBounds(field) || given === null) return [{ ...base, label: `filter.${label}`, values: texts(given) }]
    const exact = exactNumbersOf(given)
    return Object.entries(given as Record<string, unknown>).flatMap(([operator, value]): GivenFilter[] => {
      if (value === null || value === undefined) return []
      const at = { ...base, label: `filter.${label}.${operator}` }
      if (operator === 'isNull')
        return value === true ? [{ ...at, values: [null] }] : [{ ...at, operator: isNotNull, values: [] }]
      if (operator === 'eq') return [{ ...at, values: texts(value) }]
      return [{ ...at, operator, values: [exact?.get(operator) ?? String(value)] }]
    })
  })
}

function createMutations({ service }: CollectionElementsDeps): Element[] {
  const { collection } = service
  const title = pascal(collection.singular)
  const bodyOf = (input: object) => toBody(input, collection)
  /** Before a write: once it is stored, the response must not fail. */
  const begin = async (action: Action, context: Context, selection: Selection, given: object) => {
    const actor = actorOf(context.principal)
    service.requireDecided(action, actor)
    await count(context, selection, given)
    return actor
  }
  return [
    mutation<{ input: object; idempotencyKey?: string | null }>({
      name: `create${title}`,
      description:
        'A repeated request with the same `idempotencyKey` returns the same row and creates no other. ' +
        ruleOf(collection, 'create'),
      type: title,
      args: {
        input: `Create${title}Input!`,
        idempotencyKey: { type: 'String', description: 'As the header of the REST API. Kept for 24 hours.' },
      },
      access: accessOf(collection, 'create'),
      async resolve({ input, idempotencyKey }, context, { selection }) {
        const actor = await begin('create', context, selection(), input)
        return toFields((await service.create(bodyOf(input), actor, idempotencyKey?.trim() || undefined)).row)
      },
    }),
    mutation<{ id: string; input: object; ifMatch?: string | null }>({
      name: `update${title}`,
      description: `Changes the fields that are given. ${ruleOf(collection, 'update')}`,
      type: title,
      args: {
        id: 'ID!',
        input: `Update${title}Input!`,
        ifMatch: { type: 'String', description: 'The `etag` that the row must have, or the ETag of the REST API.' },
      },
      access: accessOf(collection, 'update'),
      async resolve({ id, input, ifMatch }, context, { selection }) {
        const actor = await begin('update', context, selection(), input)
        const isExpected = ifMatch ? expectEtag(ifMatch) : undefined
        return toFields((await service.update(parseId(id), bodyOf(input), actor, isExpected)).row)
      },
    }),
    mutation<{ id: string }>({
      name: `delete${title}`,
      description: ruleOf(collection, 'delete'),
      type: 'Boolean',
      args: { id: 'ID!' },
      access: accessOf(collection, 'delete'),
      async resolve({ id }, context, { selection }) {
        await service.delete(parseId(id), await begin('delete', context, selection(), {}))
        return true
      },
    }),
    mutation<{ id: string }>({
      name: `restore${title}`,
      description: `Undoes a deletion. ${ruleOf(collection, 'delete')}`,
      type: title,
      args: { id: 'ID!' },
      access: accessOf(collection, 'delete'),
      async resolve({ id }, context, { selection }) {
        return toFields((await service.restore(parseId(id), await begin('delete', context, selection(), {}))).row)
      },
    }),
  ]
}

/** With the names of the REST API, ids as numbers, and numbers as they were written. */
function toBody(input: object, collection: Described): object {
  const given = input as Readonly<Record<string, unknown>>
  const written = exactNumbersOf(input)
  const exact = new Map<string, string>()
  const body: Record<string, unknown> = {}
  for (const { name, definition, target } of writableFieldsOf(collection)) {
    const value = given[camel(name)]
    if (value === undefined) continue
    const literal = written?.get(camel(name))
    if (literal !== undefined) exact.set(name, literal)
    body[name] = target ? toIds(value) : definition.kind === 'json' ? toJson(value) : value
  }
  if (exact.size > 0) rememberExactNumbers(body, exact)
  return body
}

function toIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toIds)
  return typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value
}

/** From a text, or from objects of an input type. */
function toJson(value: unknown): unknown {
  if (typeof value !== 'string') return renameKeys(value, snake)
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function renameKeys(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renameKeys(each, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [rename(name), renameKeys(each, rename)]))
}

function createSubscription({ service, view, changes }: CollectionElementsDeps): Element {
  const { collection } = service
  const title = pascal(collection.singular)
  const known = camel(collection.singular)
  return subscription<{ after?: string | null }>({
    name: `${known}Changes`,
    description: 'Every change of what you may read, in order. Resumed from a cursor, it misses none.',
    type: `${title}Change!`,
    args: {
      after: { type: 'String', description: 'A cursor; "0" is the oldest change that is kept. Default: from now on.' },
    },
    access: accessOf(collection, 'read'),
    async *subscribe({ after }, context) {
      const { signal, starts } = context
      service.requireDecided('read', actorOf(context.principal))
      const latest = view.isSameForAll ? changes.latestOf(collection.name) : changes.latest()
      const start = after == null || after === '' ? latest : changes.cursors.parse(after)
      starts(Promise.resolve(start))
      const query = {
        after: await start,
        limit: entriesPerRead,
        maxBytes,
        signal,
        ...(view.topic !== undefined && { topic: view.topic }),
      }
      for await (const page of changes.follow(query)) {
        for (const { id, change } of await view.show(page.entries, actorOf(context.principal))) {
          const data = change.data as { id: number; attributes?: Record<string, unknown> } | null
          const row = data?.attributes ? toFields({ id: data.id, ...data.attributes }) : null
          const { type, at, version = null, actor = null } = change
          yield { cursor: changes.cursors.issue(id), type, at, version, id: data?.id ?? null, actor, [known]: row }
        }
      }
    },
  })
}

async function count(context: Context, selection: Selection, given: object): Promise<void> {
  await readWithin({ context, selection, read: async () => [given] })
}
