/** Describes the routes of a collection, for /openapi.json and /docs. */
import type { TSchema } from 'typebox'
import { cursorExpired } from '../../platform/changes/change.ts'
import { changesQuery } from '../../platform/changes/http/changes-query.ts'
import { pageQuery } from '../../platform/http/paging.ts'
import { tooManyAttempts } from '../../platform/limiter/limiter.ts'
import { CursorMeta } from '../../platform/listing/list-responses.ts'
import { Id, noContent, type RouteDocs, response, type Tag } from '../../platform/openapi/route-docs.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { type DescribedField, isOwnField, maxTextOf } from '../declare/describe.ts'
import type { FieldDefinition } from '../declare/fields.ts'
import type { Action } from '../declare/rules.ts'
import { describeRule } from '../rules/sentence.ts'
import { valueKindOf } from '../schema/tables.ts'
import { type CollectionService, shownFieldsOf } from '../service.ts'
import { includableOf } from '../store/includes.ts'
import { operators } from '../store/list-filters.ts'
import { filtersOf, hasBounds, sortsOf } from '../store/lists.ts'
import { writableFieldsOf } from '../store/values.ts'

const at = '2026-01-01T00:00:00.000Z'
const cursor = 'v0Yw7wq3mZ1sS2pJ8tQvF5nR6xKcLd9gH4bTeUaWiOyMzXjB'
const ETag = Type.String({ description: 'Stands for this state of what is answered.' })
const unchanged = { description: 'What you have is up to date. There is no body.' }

function schemaOf(definition: FieldDefinition, more: Record<string, unknown> = {}): TSchema {
  const { kind, options, values = [], item, computed } = definition
  const { min, max } = options
  const range = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
  switch (kind) {
    case 'integer':
      return Type.Integer({ format: 'int64', ...range, ...more })
    case 'decimal':
      return Type.Number({ ...range, ...more })
    case 'boolean':
      return Type.Boolean(more)
    case 'choice':
      return Type.Union(
        values.map((value) => Type.Literal(value)),
        more,
      )
    case 'time':
      return Type.String({ format: 'date-time', ...more })
    case 'day':
      return Type.String({ format: 'date', ...more })
    case 'json':
      return options.schema ? ({ ...options.schema, ...more } as TSchema) : Type.Unknown(more)
    case 'list':
      return Type.Array(schemaOf(item as FieldDefinition), { ...(max !== undefined && { maxItems: max }), ...more })
    case 'belongsTo':
      return Type.Integer({ format: 'int64', minimum: 1, ...more })
    case 'computed':
      return schemaOf(computed?.type as FieldDefinition, more)
    default: {
      const format = kind === 'email' ? { format: 'email' } : kind === 'url' ? { format: 'uri' } : {}
      return Type.String({
        ...(min !== undefined && { minLength: min }),
        maxLength: maxTextOf(definition),
        ...format,
        ...more,
      })
    }
  }
}

function exampleOf(definition: FieldDefinition, name: string): unknown {
  const { kind, options, values = [], item, computed } = definition
  const { min = 1, max = Number.MAX_SAFE_INTEGER } = options
  switch (kind) {
    case 'integer':
      return Math.min(Math.max(min, 3), max)
    case 'decimal':
      return Math.min(Math.max(min, 19.5), max)
    case 'boolean':
      return true
    case 'choice':
      return values[0]
    case 'time':
      return at
    case 'day':
      return at.slice(0, 10)
    case 'email':
      return 'ada@example.com'
    case 'url':
      return 'https://example.com/'
    case 'json':
      return (options.schema as { examples?: readonly unknown[] } | undefined)?.examples?.[0] ?? {}
    case 'list':
      return [exampleOf(item as FieldDefinition, name)]
    case 'belongsTo':
      return 1
    case 'computed':
      return exampleOf(computed?.type as FieldDefinition, name)
    default: {
      const text = `A ${name.replaceAll('_', ' ')}`
      return text.padEnd(options.min ?? 0, '.').slice(0, maxTextOf(definition))
    }
  }
}

const describing = ({ options: { help, label } }: FieldDefinition) => {
  const description = help ?? label
  return description === undefined ? {} : { description }
}

/** JSON without a schema may be null anyway. */
function orNull(schema: TSchema, { definition, kind }: DescribedField): TSchema {
  const { options } = definition
  const isNullable = options.optional === true || kind === 'computed'
  const isAny = valueKindOf({ kind, definition }) === 'json' && options.schema === undefined
  return isNullable && !isAny ? Type.Union([schema, Type.Null()]) : schema
}

export function createDocs({ collection, errors }: Pick<CollectionService, 'collection' | 'errors'>) {
  const { name, singular, lists } = collection
  const words = singular.replaceAll('-', ' ')
  const title = pascal(singular)
  const tag: Tag = {
    name: pascal(name).replace(/(?<=.)([A-Z])/g, ' $1'),
    description: `Rows of the collection ${name}.`,
  }
  const shown = shownFieldsOf(collection)
  const attributes = Object.fromEntries(
    shown.map((field) => {
      const schema = schemaOf(field.definition, describing(field.definition))
      return [field.name, Type.Optional(orNull(schema, field))]
    }),
  )
  const included = Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'By relation: the rows that `include` names.' }),
  )
  const Resource = Type.Object(
    { id: Type.Integer({ format: 'int64' }), type: Type.Literal(name), attributes: Type.Object(attributes), included },
    { title },
  )
  const One = Type.Object({ data: Resource }, { title: `${title}Envelope` })
  const example = {
    id: 1,
    type: name,
    attributes: Object.fromEntries(
      shown.map((field) => [field.name, isOwnField(field.name) ? at : exampleOf(field.definition, field.name)]),
    ),
  }
  const writable = writableFieldsOf(collection).filter(
    ({ definition }) => definition.options.writable?.kind !== 'never',
  )
  const required = writable.filter(
    ({ definition: { options }, kind }) => !options.optional && options.default === undefined && kind !== 'list',
  )
  const bodyOf = (isNew: boolean) =>
    Type.Object(
      Object.fromEntries(
        writable
          .filter(({ definition }) => isNew || definition.options.writable?.kind !== 'onCreate')
          .map((field) => {
            const schema = schemaOf(field.definition, describing(field.definition))
            const nullable = orNull(schema, field)
            return [field.name, isNew && required.includes(field) ? nullable : Type.Optional(nullable)]
          }),
      ),
      { title: isNew ? `New${title}` : `${title}Change` },
    )
  const given = (fields: readonly DescribedField[]) =>
    Object.fromEntries(fields.map((field) => [field.name, exampleOf(field.definition, field.name)]))
  const allowed = (action: Action) => {
    const rule = collection.rules?.[action]
    return rule && `if ${describeRule(rule)}`
  }
  const access = (action: Action) => {
    const text = allowed(action)
    return text === undefined ? {} : { access: text }
  }
  const include = includableOf(collection)
  const shaping = {
    ...(include.length > 0 && {
      include: Type.String({
        description: `Rows to include, up to three levels deep: ${include.map((field) => `\`${field.name}\``).join(', ')}.`,
      }),
    }),
    fields: Type.String({ description: 'The attributes to return, separated by commas. Default: all.' }),
  }
  const filters = Object.fromEntries(
    filtersOf(collection).flatMap((field) => {
      const { kind, definition } = field
      const description =
        kind === 'list'
          ? 'Rows whose list has the value, or one of several.'
          : 'The value, one of several separated by commas, or `null`.'
      const values = definition.values === undefined ? '' : ` Values: ${definition.values.join(', ')}.`
      const bounds = hasBounds(field)
        ? Object.keys(operators).map((operator): [string, TSchema] => [
            `filter[${field.name}][${operator}]`,
            Type.String(),
          ])
        : []
      return [
        [`filter[${field.name}]`, Type.String({ description: description + values })] as [string, TSchema],
        ...bounds,
      ]
    }),
  )
  const headers = { etag: ETag }
  const ifMatch = { 'if-match': Type.String({ description: 'Only a row with this ETag is changed; 412 otherwise.' }) }
  const ifNoneMatch = {
    'if-none-match': Type.String({ description: 'The ETag of an earlier answer; 304 where nothing has changed.' }),
  }
  const missing = errors.notFound()
  const unavailable = validationFailed({ fields: [`Must be among ${shown.map((field) => field.name).join(', ')}`] })
  const invalid = (message: string) => validationFailed({ [writable[0]?.name ?? 'id']: [message] })
  const params = { id: Id }
  const update = (method: 'update' | 'replace'): RouteDocs => ({
    tag,
    ...access('update'),
    operationId: `${method}${title}`,
    summary: method === 'update' ? `Change a ${words}` : `Change a ${words} (PUT)`,
    description: 'Changes the fields that are given. `null` clears an optional one.',
    params,
    headers: {
      ...ifMatch,
      'idempotency-key': Type.String({
        maxLength: 255,
        description: 'Within 24 hours, the same key changes the row once and returns it as it is by now.',
      }),
    },
    body: { schema: bodyOf(false), example: given(writable.slice(0, 1)) },
    responses: { 200: response(One, { data: example } as never, { headers: { etag: ETag } }) },
    errors: [missing, errors.conflict(), errors.changed(), invalid('Must not be blank')],
  })

  return {
    list: {
      tag,
      ...access('read'),
      operationId: `list${pascal(name)}`,
      summary: `List ${name.replaceAll('-', ' ')}`,
      description: 'In pages: go on from `meta.next` until it is null.',
      query: {
        sort: Type.Union(
          sortsOf(collection).flatMap((field) => [Type.Literal(field.name), Type.Literal(`-${field.name}`)]),
        ),
        ...filters,
        ...(lists.search.length > 0 && {
          q: Type.String({ description: `A part of ${lists.search.join(', ')}, in any case.` }),
        }),
        cursor: Type.String({ description: '`meta.next` or `meta.prev` of another page in the same order.' }),
        ...pageQuery,
        count: Type.Literal('exact', { description: 'Counts what is filtered, however many there are.' }),
        ...shaping,
      },
      headers: ifNoneMatch,
      responses: {
        200: {
          schema: Type.Object({ data: Type.Array(Resource), meta: CursorMeta }, { title: `${title}List` }),
          examples: { list: { data: [example], meta: { total: 1, per_page: 20, next: null, prev: null } } },
          headers: {
            ...headers,
            link: Type.String({ description: 'The next and the previous page, by RFC 8288.' }),
            'x-cursor': Type.String({ description: 'Where to go on in the change log, so that nothing is missed.' }),
          },
        },
        304: unchanged,
      },
      errors: [validationFailed({ sort: ['Must be one of id'] })],
    },
    read: {
      tag,
      ...access('read'),
      operationId: `get${title}`,
      summary: `Read a ${words}`,
      params,
      query: shaping,
      headers: ifNoneMatch,
      responses: { 200: response(One, { data: example } as never, { headers }), 304: unchanged },
      errors: [missing, unavailable],
    },
    create: {
      tag,
      ...access('create'),
      operationId: `create${title}`,
      summary: `Create a ${words}`,
      headers: {
        'idempotency-key': Type.String({
          maxLength: 255,
          description:
            'The same key within 24 hours gets the first answer again and creates nothing; with another body it is 422.',
        }),
      },
      body: { schema: bodyOf(true), example: given(required.length > 0 ? required : writable.slice(0, 1)) },
      responses: {
        201: response(One, { data: example } as never, {
          headers: { ...headers, location: Type.String({ format: 'uri-reference', description: 'Where it is.' }) },
        }),
      },
      errors: [errors.conflict(), invalid('Must not be blank')],
    },
    update: update('update'),
    replace: update('replace'),
    delete: {
      tag,
      ...access('delete'),
      operationId: `delete${title}`,
      summary: `Delete a ${words}`,
      params,
      headers: ifMatch,
      responses: { 204: noContent },
      errors: [missing, errors.changed(), errors.referred()],
    },
    restore: {
      tag,
      ...access('delete'),
      operationId: `restore${title}`,
      summary: `Restore a deleted ${words}`,
      description: 'With the rows that were deleted together with it. A row that is not deleted stays as it is.',
      params,
      responses: { 200: response(One, { data: example } as never, { headers }) },
      errors: [missing, errors.conflict(), invalid('Is already taken')],
    },
    versions: {
      tag,
      ...access('read'),
      operationId: `list${title}Versions`,
      summary: `Read the versions of a ${words}`,
      description: 'Newest first, as far as the change log keeps them.',
      params,
      responses: {
        200: response(
          Type.Object(
            {
              data: Type.Array(
                Type.Object({
                  version: Type.Integer(),
                  type: Type.String(),
                  at: Type.String({ format: 'date-time' }),
                  actor: Type.Union([
                    Type.Object({ id: Type.Integer({ format: 'int64' }), name: Type.String() }),
                    Type.Null(),
                  ]),
                  changes: Type.Record(Type.String(), Type.Array(Type.Unknown()), {
                    description: 'By field: the old value and the new one.',
                  }),
                }),
              ),
            },
            { title: `${title}Versions` },
          ),
          { data: [{ version: 1, type: `${singular}.created`, at, actor: { id: 1, name: 'Ada' }, changes: {} }] },
        ),
      },
      errors: [missing],
    },
    changes: {
      tag,
      ...access('read'),
      operationId: `list${title}Changes`,
      summary: 'Read what has changed',
      description:
        `Every change of what you may read, in order. \`${singular}.left\` names a row that you can no longer see, and \`${name}.reset\` ` +
        'says that all may have changed: list the rows again, and go on from the `x-cursor` of the list. With ' +
        '`Accept: text/event-stream`, changes are sent as server-sent events, each with its cursor as `id`; `Last-Event-ID` resumes.',
      query: changesQuery,
      headers: { 'last-event-id': Type.String({ description: 'Of an event stream: the cursor from which to go on.' }) },
      responses: {
        200: response(
          Type.Object(
            {
              data: Type.Array(
                Type.Object(
                  {
                    cursor: Type.String(),
                    type: Type.String(),
                    at: Type.String({ format: 'date-time' }),
                    version: Type.Optional(Type.Integer()),
                    data: Type.Unknown(),
                    actor: Type.Optional(
                      Type.Union(
                        [
                          Type.Object({
                            id: Type.Integer({ format: 'int64' }),
                            session: Type.Optional(Type.String()),
                            key: Type.Optional(Type.String()),
                          }),
                          Type.Null(),
                        ],
                        { description: 'Who made the change, for readers with the permission audit.view.' },
                      ),
                    ),
                  },
                  { title: `${title}LogEntry` },
                ),
              ),
              meta: Type.Object({ cursor: Type.String({ description: 'Where to go on.' }), more: Type.Boolean() }),
            },
            { title: `${title}Changes` },
          ),
          {
            data: [{ cursor, type: `${singular}.created`, at, version: 1, data: example }],
            meta: { cursor, more: false },
          },
        ),
      },
      errors: [validationFailed({ after: ['Must be a cursor'] }), cursorExpired(), tooManyAttempts(5)],
    },
  } satisfies Record<string, RouteDocs>
}

/** `support-tickets` → `SupportTickets`. */
export function pascal(name: string): string {
  return name
    .split(/[-_]/)
    .map((word) => `${(word[0] ?? '').toUpperCase()}${word.slice(1)}`)
    .join('')
}
