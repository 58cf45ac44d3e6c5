/** The pages of one row: its form, history, deletion and restoration. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { idOf } from '../../platform/http/ids.ts'
import { problemsOf } from '../../platform/pages/components/forms.ts'
import { markAsForm } from '../../platform/validation/body-validation.ts'
import type { ReadRow } from '../service.ts'
import {
  actorFor,
  findDeleted,
  findRow,
  mayEver,
  type PagesContext,
  page,
  pageFor,
  readTitles,
  rowPath,
} from './context.ts'
import { pathOf } from './fields.ts'
import { defaultTexts, editableFields, type Form, readTexts, textsOf, toBody } from './form-fields.ts'
import {
  changedNote,
  deletedPage,
  detailsPage,
  editPage,
  type FormView,
  formNames,
  goneNote,
  historyPage,
  newPage,
} from './row.views.ts'

type Texts = Record<string, string>

export function addRowPages(app: FastifyInstance, context: PagesContext): void {
  const { service, send, notices, random, includes } = context
  const { collection } = service
  const { name } = collection
  const path = pathOf(collection)
  const row = rowPath(collection)
  const creating = pageFor(service, 'create')
  const titlesFor = (request: FastifyRequest, rows: readonly Form[]) =>
    readTitles(collection, rows, { includes, actor: actorFor(request) })
  /** Those of a list, too. */
  const asRow = (texts: Texts): Form =>
    Object.fromEntries(Object.entries(texts).map(([field, text]) => [field, text.split('\n')]))

  async function sendNew(
    request: FastifyRequest,
    reply: FastifyReply,
    { values, status, ...view }: Pick<FormView, 'problems' | 'note'> & { values: Texts; status?: number },
  ) {
    const fields = editableFields(collection, principalOf(request), true)
    const titles = await titlesFor(request, [asRow(values)])
    return send(request, reply, newPage(collection, { ...view, values, fields, titles, key: random.id() }), status)
  }

  app.get(`/${name}/new`, creating, (request, reply) =>
    sendNew(request, reply, { values: defaultTexts(editableFields(collection, principalOf(request), true)) }),
  )

  app.post<{ Body: Form }>(`/${name}`, creating, async (request, reply) => {
    const form = request.body ?? {}
    const fields = editableFields(collection, principalOf(request), true)
    const values = readTexts(form, fields)
    const key = String(form[formNames.key] ?? '')
    try {
      const created = await service.create(markAsForm(toBody(values, fields)), actorFor(request), key || undefined)
      return notices.redirect(reply, { address: `${path}/${created.row.id}`, notice: `${name}-created` })
    } catch (error) {
      return sendNew(request, reply, { values, ...problemsOf(error) })
    }
  })

  async function readView(request: FastifyRequest, { row }: ReadRow, typed: Texts = {}) {
    const history = await service.versions(row.id, actorFor(request))
    const titles = await titlesFor(request, [row, asRow(typed), ...valuesIn(history)])
    return { row, history, titles, mayDelete: mayEver(collection, principalOf(request), 'delete') }
  }

  const fieldsOf = (request: FastifyRequest, read: ReadRow) =>
    editableFields(collection, principalOf(request), false).filter((field) => field.name in read.row)

  app.get(row, page, async (request, reply) => {
    const read = await findRow(service, idOf(request), actorFor(request))
    if (!read) return sendGone(request, reply)
    const view = await readView(request, read)
    const fields = fieldsOf(request, read)
    if (fields.length === 0 || !mayEver(collection, principalOf(request), 'update')) {
      return send(request, reply, detailsPage(collection, view))
    }
    const values = textsOf(fields, read.row)
    return send(request, reply, editPage(collection, { ...view, fields, values, tag: read.etag }))
  })

  async function sendGone(request: FastifyRequest, reply: FastifyReply) {
    service.requireDecided('read', actorFor(request))
    const deleted = await findDeleted(service, idOf(request), actorFor(request))
    if (!deleted) throw service.errors.notFound()
    return send(request, reply, deletedPage(collection, deleted), 404)
  }

  app.post<{ Body: Form }>(row, page, async (request, reply) => {
    const form = request.body ?? {}
    const actor = actorFor(request)
    const typed = readTexts(form, editableFields(collection, principalOf(request), false))
    const sendLost = () => {
      const mayCreate = mayEver(collection, principalOf(request), 'create')
      if (!mayCreate) throw service.errors.notFound()
      return sendNew(request, reply, { values: typed, note: goneNote(collection), status: 404 })
    }
    const read = await findRow(service, idOf(request), actor)
    if (!read) return sendLost()
    const tag = String(form[formNames.tag] ?? '')
    try {
      const body = markAsForm(toBody(typed, fieldsOf(request, read), read.row))
      await service.update(read.row.id, body, actor, (etag) => tag === '' || etag === tag)
      return notices.redirect(reply, { address: `${path}/${read.row.id}`, notice: `${name}-saved` })
    } catch (error) {
      const { problems, status } = problemsOf(error)
      const now = await findRow(service, idOf(request), actor)
      if (!now) return sendLost()
      const fields = fieldsOf(request, now)
      const hasChanged = status === 412
      const view = {
        ...(await readView(request, now, typed)),
        fields,
        values: { ...textsOf(fields, now.row), ...typed },
        // The user sees what is saved now and may overwrite it.
        tag: hasChanged ? now.etag : tag,
        ...(hasChanged ? { note: changedNote(collection, { row: now.row, typed, fields }) } : { problems }),
      }
      return send(request, reply, editPage(collection, view), status)
    }
  })

  app.get(`${row}/history`, page, async (request, reply) => {
    const view = await readView(request, await service.get(idOf(request), actorFor(request)))
    return send(request, reply, historyPage(collection, view))
  })

  app.post(`${row}/delete`, page, async (request, reply) => {
    const id = idOf(request)
    await service.delete(id, actorFor(request))
    return reply.redirect(collection.keptMs === undefined ? path : `${path}?deleted=${id}`, 303)
  })

  app.post(`${row}/restore`, page, async (request, reply) => {
    const { row } = await service.restore(idOf(request), actorFor(request))
    return notices.redirect(reply, { address: `${path}/${row.id}`, notice: `${name}-restored` })
  })
}

/** The values that a history names, as if they were rows. */
function valuesIn(history: readonly { changes: Readonly<Record<string, readonly unknown[]>> }[]): Form[] {
  return history.flatMap(({ changes }) =>
    [0, 1].map((side) => Object.fromEntries(Object.entries(changes).map(([field, pair]) => [field, pair[side]]))),
  )
}
