/** The console pages of a collection. They show what the rules allow, as the API does. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/app-error.ts'
import type { Random } from '../../core/random.ts'
import { type Principal, principalOf } from '../../platform/access/route-guards.ts'
import { sendCsv } from '../../platform/csv/csv-download.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { idOf, parseId } from '../../platform/http/ids.ts'
import { chooseColumns, columnsParameter } from '../../platform/pages/components/columns.ts'
import { problemsOf } from '../../platform/pages/components/forms.ts'
import { withoutBlanks } from '../../platform/pages/components/list-links.ts'
import { isAllPicked } from '../../platform/pages/components/row-picks.ts'
import type { ConsolePages, PageKit } from '../../platform/pages/console-pages.ts'
import { html } from '../../platform/pages/html.ts'
import { describeDetails, markAsForm } from '../../platform/validation/body-validation.ts'
import { actorOf, type Row } from '../actor.ts'
import type { Described } from '../declare/describe.ts'
import type { Action } from '../declare/rules.ts'
import { readListQuery } from '../rest/routes.ts'
import { decideRule } from '../rules/values.ts'
import type { CollectionService, ReadRow } from '../service.ts'
import type { Includes } from '../store/includes.ts'
import { exportedFields, exportRows, toCell } from '../transfer/export.ts'
import { defaultValues, editableFields, labelOf, pathOf, readForm, type Titles, titleOf, words } from './fields.ts'
import {
  type BulkAction,
  besideCards,
  bulkResultPage,
  columnsOf,
  deletedPage,
  detailsCard,
  detailsPage,
  formPage,
  listPage,
} from './views.ts'

export interface CollectionPagesDeps {
  service: CollectionService
  includes: Includes
  random: Random
}

const perPage = '25'
const shownVersions = 20
/** At once. */
const maxPicked = 100

export function createCollectionPages({ service, includes, random }: CollectionPagesDeps): ConsolePages {
  const { collection } = service
  const { name } = collection
  const one = collection.singular.replaceAll('-', ' ')
  const path = pathOf(collection)
  const may = (principal: Principal, action: Action) => mayEver(collection, principal, action)
  return {
    navigation: [{ path, name: words(name), icon: 'page', order: 30, may: (principal) => may(principal, 'read') }],
    actions: [{ path: `${path}/new`, name: `New ${one}`, may: (principal) => may(principal, 'create') }],
    finders: collection.lists.search.length > 0 ? [createFinder(service)] : [],
    notices: {
      [`${name}-created`]: `${words(one)} created`,
      [`${name}-saved`]: `${words(one)} saved`,
      [`${name}-restored`]: `${words(one)} restored`,
    },
    routes: (kit) => (app) => addPages(app, { ...kit, service, includes, random }),
  }
}

/** Whether there may be rows for which this is allowed. */
function mayEver({ rules }: Described, principal: Principal, action: Action): boolean {
  const rule = rules?.[action]
  const { principal: standing } = actorOf(principal)
  return rule !== undefined && standing !== undefined && decideRule(rule, standing) !== false
}

function createFinder(service: CollectionService): NonNullable<ConsolePages['finders']>[number] {
  const { collection } = service
  return {
    heading: words(collection.name),
    icon: 'page',
    may: (principal) => mayEver(collection, principal, 'read'),
    async find(q, principal) {
      const given = { filters: [], q: q.slice(0, 255), per_page: '5' }
      const found = await service.list(given, actorOf(principal)).catch((error: unknown) => {
        // Such as a field that this user may not search by.
        if (error instanceof AppError && error.status < 500) return { rows: [] as ReadRow[] }
        throw error
      })
      return found.rows.map(({ row }) => ({ path: `${pathOf(collection)}/${row.id}`, name: titleOf(collection, row) }))
    },
  }
}

function addPages(
  app: FastifyInstance,
  { send, notices, service, includes, random }: PageKit & CollectionPagesDeps,
): void {
  const { collection } = service
  const { name } = collection
  const path = pathOf(collection)
  const base = `/${name}`
  const one = `${base}/:id(^[0-9]+$)`
  const page = { config: { access: 'authenticated', docs: false } } as const
  const actor = (request: FastifyRequest) => actorOf(principalOf(request))

  /** Of the rows that these refer to, as far as the reader may see them. */
  async function readTitles(rows: readonly Row[], request: FastifyRequest): Promise<Titles> {
    const ids = new Map<Described, number[]>()
    for (const field of collection.fields.values()) {
      if (!field.target) continue
      const found = rows.flatMap((row) =>
        ([row[field.name] ?? []].flat() as unknown[]).filter((id) => typeof id === 'number'),
      )
      ids.set(field.target, [...(ids.get(field.target) ?? []), ...(found as number[])])
    }
    const read = [...ids].map(async ([target, wanted]) => {
      const found = await includes.readByIds(target, wanted, actor(request))
      return [target, new Map([...found].map(([id, row]) => [id, titleOf(target, row)]))] as const
    })
    return new Map(await Promise.all(read))
  }

  async function readRow(request: FastifyRequest) {
    const read = await service.get(idOf(request), actor(request))
    const history = (await service.versions(read.row.id, actor(request))).slice(0, shownVersions)
    const mayDelete = mayEver(collection, principalOf(request), 'delete')
    return {
      read,
      view: { row: read.row, history, mayDelete, titles: await readTitles([read.row, ...valuesIn(history)], request) },
    }
  }

  app.get<{ Querystring: Record<string, unknown> }>(base, page, async (request, reply) => {
    service.requireDecided('read', actor(request))
    const { deleted } = request.query
    if (typeof deleted === 'string' && /^\d{1,16}$/.test(deleted))
      return send(request, reply, deletedPage(collection, Number(deleted)))
    const { cursor, page: _page, select: _select, ...query } = withoutBlanks(request.query)
    let titles: Titles = new Map()
    const columns = columnsOf(collection, () => titles)
    const chosen = chooseColumns(columns, request.query.columns)
    const shown = { ...query, ...columnsParameter(columns, chosen) }
    const asked = await list(service, { ...query, cursor, per_page: perPage }, request)
    titles = await readTitles(asked.rows, request)
    const view = {
      page: asked,
      titles,
      query: shown,
      sort: asked.sort,
      columns,
      chosen,
      problem: asked.problem,
      mayCreate: mayEver(collection, principalOf(request), 'create'),
      actions: actionsOf(collection, principalOf(request)),
      isPicked: isAllPicked(request.query),
    }
    return send(request, reply, listPage(collection, view), asked.problem === undefined ? 200 : 422)
  })

  app.get<{ Querystring: Record<string, unknown> }>(`${base}/export`, page, async (request, reply) => {
    service.requireDecided('read', actor(request))
    const given = readListQuery(withoutBlanks(request.query))
    const head = exportedFields(service, actor(request))
    async function* batches() {
      for await (const rows of exportRows(service, { given, actor: actor(request) })) {
        yield rows.map((row) => head.map((field) => toCell(row[field])))
      }
    }
    return sendCsv(request, reply, { name, head, batches: batches() })
  })

  app.post<{ Body: Record<string, unknown> }>(`${base}/bulk`, page, async (request, reply) => {
    const { pick, action, back } = request.body ?? {}
    const known = actionsOf(collection, principalOf(request)).find(([value]) => value === action)
    const ids = [pick ?? []].flat().flatMap((id) => parseId(String(id)) ?? [])
    if (!known || ids.length > maxPicked) throw httpErrors.malformedRequest()
    const [field = '', value] = known[0].split('=')
    const refused: { id: number; title: string; reason: string }[] = []
    for (const id of ids) {
      try {
        if (value === undefined) await service.delete(id, actor(request))
        else await service.update(id, markAsForm({ [field]: value }), actor(request))
      } catch (error) {
        const { problems } = problemsOf(error)
        const found = await service.get(id, actor(request)).catch(() => undefined)
        const title = found ? titleOf(collection, found.row) : `ID ${id}`
        refused.push({ id, title, reason: problems.message ?? Object.values(problems.fields).flat().join('. ') })
      }
    }
    const done = value === undefined ? 'deleted' : 'updated'
    const result = { done, count: ids.length - refused.length, refused, back: String(back ?? '') }
    return send(request, reply, bulkResultPage(collection, result), refused.length > 0 ? 409 : 200)
  })

  app.get(`${base}/new`, page, async (request, reply) => {
    service.requireDecided('create', actor(request))
    const fields = editableFields(collection, principalOf(request), true)
    return send(
      request,
      reply,
      formPage(collection, { values: defaultValues(fields), fields, titles: new Map(), key: random.id() }),
    )
  })

  app.post<{ Body: Record<string, unknown> }>(base, page, async (request, reply) => {
    service.requireDecided('create', actor(request))
    const fields = editableFields(collection, principalOf(request), true)
    const values = readForm(request.body ?? {}, fields)
    try {
      const { row } = await service.create(
        markAsForm({ ...values }),
        actor(request),
        String(request.body?.key ?? '') || undefined,
      )
      return notices.redirect(reply, { address: `${path}/${row.id}`, notice: `${name}-created` })
    } catch (error) {
      const { problems, status } = problemsOf(error)
      return send(
        request,
        reply,
        formPage(collection, { values, problems, fields, titles: new Map(), key: random.id() }),
        status,
      )
    }
  })

  app.get(one, page, async (request, reply) => {
    const { read, view } = await readRow(request)
    if (!mayEver(collection, principalOf(request), 'update')) return send(request, reply, detailsPage(collection, view))
    return sendForm(request, reply, { read, values: read.row })
  })

  async function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      read,
      values,
      problems,
      note,
      status = 200,
    }: { read: ReadRow; values: object } & {
      problems?: ReturnType<typeof problemsOf>['problems']
      note?: string
      status?: number
    },
  ) {
    const { view } = await readRow(request)
    const fields = editableFields(collection, principalOf(request), false).filter((field) => field.name in read.row)
    const form = {
      values: values as Record<string, unknown>,
      fields,
      titles: view.titles,
      row: { id: read.row.id, etag: read.etag },
      ...(problems && { problems }),
      ...(note !== undefined && { note }),
    }
    return send(
      request,
      reply,
      formPage(collection, {
        ...form,
        beside: html`${detailsCard(collection, fields, view)}${besideCards(collection, view)}`,
      }),
      status,
    )
  }

  app.post<{ Body: Record<string, unknown> }>(one, page, async (request, reply) => {
    const read = await service.get(idOf(request), actor(request))
    const fields = editableFields(collection, principalOf(request), false)
    const values = readForm(request.body ?? {}, fields)
    const expected = String(request.body?.etag ?? '')
    try {
      await service.update(
        read.row.id,
        markAsForm({ ...values }),
        actor(request),
        (etag) => expected === '' || etag === expected,
      )
      return notices.redirect(reply, { address: `${path}/${read.row.id}`, notice: `${name}-saved` })
    } catch (error) {
      const { problems, status } = problemsOf(error)
      const shown = { read, values: { ...read.row, ...values }, status }
      if (status !== 412) return sendForm(request, reply, { ...shown, problems })
      return sendForm(request, reply, {
        ...shown,
        note: 'Someone else changed this while you were editing. Saving again overwrites their changes.',
      })
    }
  })

  app.post(`${one}/delete`, page, async (request, reply) => {
    const id = idOf(request)
    await service.delete(id, actor(request))
    return reply.redirect(collection.keptMs === undefined ? path : `${path}?deleted=${id}`, 303)
  })

  app.post(`${one}/restore`, page, async (request, reply) => {
    const { row } = await service.restore(idOf(request), actor(request))
    return notices.redirect(reply, { address: `${path}/${row.id}`, notice: `${name}-restored` })
  })
}

/** Deletion, and each value of the choices and booleans that this user may set. */
function actionsOf(collection: Described, principal: Principal): BulkAction[] {
  const editable = mayEver(collection, principal, 'update') ? editableFields(collection, principal, false) : []
  const values = editable.flatMap((field): BulkAction[] => {
    const { name, kind, definition } = field
    if (kind === 'boolean')
      return [
        [`${name}=true`, `Set ${labelOf(field)}: yes`],
        [`${name}=false`, `Set ${labelOf(field)}: no`],
      ]
    return (kind === 'choice' ? (definition.values ?? []) : []).map((value) => [
      `${name}=${value}`,
      `Set ${labelOf(field)}: ${words(value)}`,
    ])
  })
  return [...values, ...(mayEver(collection, principal, 'delete') ? [['delete', 'Delete'] as const] : [])]
}

type Asked = Omit<Awaited<ReturnType<CollectionService['list']>>, 'rows' | 'limit'> & {
  rows: readonly Row[]
  problem: string | undefined
}

/** A query that cannot be answered shows what is wrong with it. */
async function list(
  service: CollectionService,
  query: Readonly<Record<string, unknown>>,
  request: FastifyRequest,
): Promise<Asked> {
  try {
    const { rows, ...page } = await service.list(readListQuery(query), actorOf(principalOf(request)))
    return { ...page, rows: rows.map(({ row }) => row), problem: undefined }
  } catch (error) {
    const problem = error instanceof AppError && error.status === 422 ? describeDetails(error) : undefined
    if (problem === undefined) throw error
    return {
      rows: [],
      total: 0,
      next: undefined,
      previous: undefined,
      sort: { field: 'id', isDescending: false },
      problem,
    }
  }
}

/** The values that a history names, as if they were rows. */
function valuesIn(history: readonly { changes: Readonly<Record<string, readonly unknown[]>> }[]): Row[] {
  return history.flatMap(({ changes }) =>
    [0, 1].map((side) => ({
      id: 0,
      ...Object.fromEntries(Object.entries(changes).map(([field, pair]) => [field, pair[side]])),
    })),
  )
}
