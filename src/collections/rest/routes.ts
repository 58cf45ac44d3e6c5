/** The REST API of a collection. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { KeyRequirement } from '../../platform/access/authorize.ts'
import type { ChangeLog } from '../../platform/changes/change-log.ts'
import { createChangesHandler } from '../../platform/changes/http/changes-handler.ts'
import { compressResponse } from '../../platform/http/compression.ts'
import { contentEtag, isUnchanged } from '../../platform/http/conditional-requests.ts'
import { idOf } from '../../platform/http/ids.ts'
import type { ConnectionsPerAddress } from '../../platform/limiter/connections-per-address.ts'
import { cursorLinksOf, cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { type Actor, actorOf } from '../actor.ts'
import type { ChangeView } from '../changes/view.ts'
import type { Described } from '../declare/describe.ts'
import type { Action } from '../declare/rules.ts'
import { type Resource, resourceOf } from '../resource.ts'
import { mayBeAnonymous } from '../rules/values.ts'
import { type CollectionService, expectEtag, type ReadRow, shownFieldsOf } from '../service.ts'
import { type Included, type Includes, type IncludeTree, readInclude } from '../store/includes.ts'
import type { GivenFilter, GivenList } from '../store/lists.ts'
import { createDocs } from './docs.ts'

export interface CollectionRoutesDeps {
  service: CollectionService
  includes: Includes
  view: ChangeView
  changes: ChangeLog
  perAddress: ConnectionsPerAddress
}

const one = '/:id(^[0-9]+$)'

/** What every route of a collection requires; which rows it may concern, the statements decide. */
export function accessOf(collection: Described, action: Action): readonly ('authenticated' | KeyRequirement)[] {
  const key = { keyPermission: `${collection.name}.${action}` }
  if (!mayBeAnonymous(collection.rules?.[action], collection)) return ['authenticated', key]
  return [action === 'read' ? { ...key, isOptional: true } : key]
}

export async function collectionRoutes(
  app: FastifyInstance,
  { service, includes, view, changes, perAddress }: CollectionRoutesDeps,
): Promise<void> {
  const { collection } = service
  const { path, rules } = collection
  const docs = createDocs(service)
  const access = (action: Action) => accessOf(collection, action)
  /** Before the body is read. */
  const decide = (action: Action) => async (request: FastifyRequest) =>
    service.requireDecided(action, actorOf(request.principal))
  const isPublic = rules?.read.kind === 'everybody'
  const isGuarded = shownFieldsOf(collection).some(({ definition }) => definition.options.readable)
  app.addHook('onRequest', (_request, reply, next) => {
    reply.header('cache-control', isPublic ? 'no-cache' : 'private, no-cache')
    next()
  })

  async function toResource({ row }: ReadRow, { tree, fields, actor }: Shape): Promise<Resource> {
    const [whole] = await includes.include(collection, [row], { tree, actor })
    return resourceOf(whole as Included, fields)
  }

  /** Readers who see other fields have other representations, and so has another selection. Each tag names the version. */
  function etagOf({ etag }: ReadRow, data: Resource, isWhole = true): string {
    return isWhole && !isGuarded ? etag : `${etag.slice(0, -1)};${contentEtag(JSON.stringify(data)).slice(1)}`
  }

  async function sendOne(reply: FastifyReply, read: ReadRow): Promise<FastifyReply> {
    const data = resourceOf({ of: collection, row: read.row })
    return reply.header('etag', etagOf(read, data)).send({ data })
  }

  app.get<{ Querystring: Record<string, unknown> }>(
    '/',
    { config: { access: access('read'), docs: docs.list }, onRequest: decide('read'), onSend: compressResponse },
    async (request, reply) => {
      const actor = actorOf(request.principal)
      const shape = readShape(request.query, collection, actor)
      const given = readListQuery(request.query)
      // Before the rows: whatever changes from here on is read from this cursor.
      reply.header(
        'x-cursor',
        changes.cursors.issue(await (view.isSameForAll ? changes.latestOf(collection.name) : changes.latest())),
      )
      const page = await service.list(given, actor)
      const rows = page.rows.map(({ row }) => row)
      const data = (await includes.include(collection, rows, shape)).map((each) => resourceOf(each, shape.fields))
      const meta = cursorMetaOf({ sort: page.sort, limit: page.limit }, page)
      const links = cursorLinksOf(path, request.query, meta)
      if (links !== undefined) reply.header('link', links)
      const body = JSON.stringify({ data, meta })
      if (isUnchanged(request, reply, contentEtag(`${page.rows.map(({ version }) => version).join()} ${body}`)))
        return reply.send()
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )

  app.get(
    '/changes',
    { config: { access: access('read'), docs: docs.changes }, onRequest: decide('read'), onSend: compressResponse },
    createChangesHandler(app, {
      changes,
      topic: collection.name,
      perAddress,
      viewOf: (request) => view.of(() => actorOf(request.principal)),
    }),
  )

  app.get<{ Querystring: Record<string, unknown> }>(
    one,
    { config: { access: access('read'), docs: docs.read }, onRequest: decide('read'), onSend: compressResponse },
    async (request, reply) => {
      const actor = actorOf(request.principal)
      const shape = readShape(request.query, collection, actor)
      const read = await service.get(idOf(request), actor)
      const data = await toResource(read, shape)
      const isWhole = shape.tree.size === 0 && shape.fields === undefined
      if (isUnchanged(request, reply, etagOf(read, data, isWhole))) return reply.send()
      return { data }
    },
  )

  app.post(
    '/',
    { config: { access: access('create'), docs: docs.create }, onRequest: decide('create') },
    async (request, reply) => {
      const read = await service.create(request.body, actorOf(request.principal), keyOf(request))
      return sendOne(reply.code(201).header('location', `${path}/${read.row.id}`), read)
    },
  )

  for (const method of ['PATCH', 'PUT'] as const) {
    app.route({
      method,
      url: one,
      config: { access: access('update'), docs: method === 'PATCH' ? docs.update : docs.replace },
      onRequest: decide('update'),
      handler: async (request, reply) =>
        sendOne(
          reply,
          await service.update(
            idOf(request),
            request.body,
            actorOf(request.principal),
            ifMatch(request),
            keyOf(request),
          ),
        ),
    })
  }

  app.delete(
    one,
    { config: { access: access('delete'), docs: docs.delete }, onRequest: decide('delete') },
    async (request, reply) => {
      await service.delete(idOf(request), actorOf(request.principal), ifMatch(request))
      return reply.code(204).send()
    },
  )

  app.post(
    `${one}/restore`,
    { config: { access: access('delete'), docs: docs.restore }, onRequest: decide('delete') },
    async (request, reply) => sendOne(reply, await service.restore(idOf(request), actorOf(request.principal))),
  )

  app.get(
    `${one}/versions`,
    { config: { access: access('read'), docs: docs.versions }, onRequest: decide('read') },
    async (request) => ({
      data: await service.versions(idOf(request), actorOf(request.principal)),
    }),
  )
}

/** What of a row is returned. */
interface Shape {
  tree: IncludeTree
  /** Undefined: all. */
  fields: ReadonlySet<string> | undefined
  actor: Actor
}

function readShape(query: Readonly<Record<string, unknown>>, collection: Described, actor: Actor): Shape {
  return { tree: readInclude(query.include, collection), fields: readFields(query.fields, collection), actor }
}

function readFields(given: unknown, collection: Described): ReadonlySet<string> | undefined {
  if (given === undefined || given === '') return undefined
  const known = shownFieldsOf(collection).map(({ name }) => name)
  const names = typeof given === 'string' ? given.split(',').map((name) => name.trim()) : []
  const isKnown = names.length > 0 && names.every((name) => known.includes(name) || name === 'id')
  if (!isKnown) throw validationFailed({ fields: [`Must be among ${known.join(', ')}`] })
  return new Set(names)
}

const filterName = /^filter\[([^[\]]{1,40})\](?:\[([^[\]]{1,10})\])?$/

export function readListQuery(query: Readonly<Record<string, unknown>>): GivenList {
  const filters = Object.entries(query).flatMap(([label, given]): GivenFilter[] => {
    if (label !== 'filter' && !label.startsWith('filter[')) return []
    const [, field = label, operator] = filterName.exec(label) ?? []
    const texts = typeof given === 'string' ? given.split(',') : []
    return [{ label, field, operator, values: texts.map((text) => (text === 'null' ? null : text)) }]
  })
  return { ...query, filters }
}

function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return typeof key === 'string' && key.trim() !== '' ? key : undefined
}

function ifMatch({ headers }: FastifyRequest) {
  return headers['if-match'] === undefined ? undefined : expectEtag(headers['if-match'])
}
