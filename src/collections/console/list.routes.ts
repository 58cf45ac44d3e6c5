/** The list of a collection: its page, its file, and the rows that are edited in it. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { sendCsv } from '../../platform/csv/csv-download.ts'
import { compressResponse } from '../../platform/http/compression.ts'
import { idOf, parseId } from '../../platform/http/ids.ts'
import { chooseColumns, columnsParameter } from '../../platform/pages/components/columns.ts'
import { listAddress, queryProblemOf, withoutBlanks } from '../../platform/pages/components/list-links.ts'
import { isAllPicked } from '../../platform/pages/components/row-picks.ts'
import { markAsForm } from '../../platform/validation/body-validation.ts'
import type { DescribedField } from '../declare/describe.ts'
import { readListQuery } from '../rest/routes.ts'
import type { CollectionService, ReadRow } from '../service.ts'
import { exportedFields, exportRows, toCell } from '../transfer/export.ts'
import { actionsFor } from './bulk.routes.ts'
import { actorFor, findDeleted, findRow, mayEver, type PagesContext, pageFor, readTitles, rowPath } from './context.ts'
import { isLong, labelOf, pathOf } from './fields.ts'
import { editableFields, type Form, readTexts, textOf, toBody } from './form-fields.ts'
import { columnsOf, listPage } from './list.views.ts'
import { addRowEditing, editedOf, type SendList, withRow } from './row-edit.routes.ts'

const perPage = '25'
const inlineKinds = ['text', 'email', 'integer', 'decimal', 'boolean', 'choice', 'day', 'time']

/** Parameters of the address that are about what happens on the page, not about what is listed. */
function listedBy(query: Form): Record<string, string> {
  const { page: _page, select: _select, edit: _edit, deleted: _deleted, ...listed } = withoutBlanks(query)
  return listed
}

export function addListPages(app: FastifyInstance, { service, includes, send, notices }: PagesContext): void {
  const { collection } = service
  const path = pathOf(collection)
  const reading = pageFor(service, 'read')
  const columns = columnsOf(collection)

  /** Fields that are short enough to be edited in a row. */
  function inlineFields(request: FastifyRequest): DescribedField[] {
    if (!mayEver(collection, principalOf(request), 'update')) return []
    return editableFields(collection, principalOf(request), false).filter(
      (field) => inlineKinds.includes(field.kind) && !isLong(field),
    )
  }

  const sendList: SendList<ReadRow & { id: number }> = async (request, reply, { query, edited, gone, status }) => {
    const actor = actorFor(request)
    const { cursor, ...listed } = listedBy(query)
    const picked = chooseColumns(columns, query.columns)
    // The first is where a row is opened and saved.
    const chosen = columns.filter((column, i) => i === 0 || picked.includes(column))
    const asked = await list(
      service,
      { ...listed, ...(cursor !== undefined && { cursor }), per_page: perPage },
      request,
    )
    const rows = withRow(
      asked.rows.map((read) => ({ ...read, id: read.row.id })),
      edited?.row,
    )
    const view = {
      page: { ...asked, rows: rows.map(({ row }) => row) },
      versions: new Map(rows.map(({ id, version }) => [id, version])),
      titles: await readTitles(collection, [...rows.map(({ row }) => row), filteredBy(listed)], { includes, actor }),
      query: { ...listed, ...columnsParameter(columns, picked) },
      here: { ...listed, ...(cursor !== undefined && { cursor }), ...columnsParameter(columns, picked) },
      sort: asked.sort,
      columns,
      chosen,
      problem: asked.problem,
      mayCreate: mayEver(collection, principalOf(request), 'create'),
      actions: actionsFor(collection, principalOf(request)),
      isPicked: isAllPicked(query),
      editable: inlineFields(request),
      edited: edited?.edit,
      gone,
      // The parameter is untrusted, so the row is looked up.
      deleted: await findDeleted(service, parseId(String(query.deleted ?? '')), actor),
    }
    return send(request, reply, listPage(collection, view), status ?? (asked.problem === undefined ? 200 : 422))
  }

  const find = async (request: FastifyRequest, id: number | undefined) => {
    const read = await findRow(service, id, actorFor(request))
    return read && { ...read, id: read.row.id }
  }
  const tagOf = ({ etag }: ReadRow) => etag

  app.get<{ Querystring: Form }>(
    `/${collection.name}`,
    { ...reading, onSend: compressResponse },
    async (request, reply) => {
      const { query } = request
      const id = inlineFields(request).length > 0 ? parseId(String(query.edit ?? '')) : undefined
      const edited = editedOf(id === undefined ? undefined : await find(request, id), tagOf)
      return sendList(request, reply, { query, edited })
    },
  )

  addRowEditing<ReadRow & { id: number }>(app, {
    path: rowPath(collection),
    access: pageFor(service, 'update'),
    notices,
    saved: `${collection.name}-saved`,
    find: (request) => find(request, idOf(request)),
    findDeleted: (request) => findDeleted(service, idOf(request), actorFor(request)),
    pick: (form) => readTexts(form, [...collection.fields.values()]),
    read: (form, _row, request) => readTexts(form, inlineFields(request)),
    async save(request, typed, { row: { row }, tag }) {
      const body = markAsForm(toBody(typed as Record<string, string>, inlineFields(request), row))
      await service.update(row.id, body, actorFor(request), (etag) => etag === tag)
    },
    tagOf,
    changedNote({ row }, typed) {
      const changed = Object.entries(typed).flatMap(([name, text]) => {
        const field = collection.fields.get(name) as DescribedField
        const saved = textOf(field, row[name])
        return saved === text ? [] : [`${labelOf(field)} is now ${saved || 'empty'}`]
      })
      return `Someone else changed this while you were editing${changed.length > 0 ? `: ${changed.join(', ')}` : ''}. Save again to overwrite.`
    },
    backAddress: (given) =>
      listAddress(path, listedBy(Object.fromEntries(new URLSearchParams(typeof given === 'string' ? given : '')))),
    sendList,
  })

  app.get<{ Querystring: Form }>(`/${collection.name}/export`, reading, async (request, reply) => {
    const actor = actorFor(request)
    const given = readListQuery(withoutBlanks(request.query))
    const head = exportedFields(service, actor)
    async function* batches() {
      for await (const rows of exportRows(service, { given, actor })) {
        yield rows.map((row) => head.map((field) => toCell(row[field])))
      }
    }
    return sendCsv(request, reply, { name: collection.name, head, batches: batches() })
  })
}

/** The values of filters, as if they were a row. */
function filteredBy(query: Form): Form {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => {
      const [, field] = /^filter\[(\w+)\]$/.exec(name) ?? []
      return field === undefined ? [] : [[field, String(value).split(',')]]
    }),
  )
}

type Listed = Omit<Awaited<ReturnType<CollectionService['list']>>, 'limit'> & { problem: string | undefined }

/** A query that cannot be answered shows what is wrong with it. */
async function list(service: CollectionService, query: Form, request: FastifyRequest): Promise<Listed> {
  try {
    return { ...(await service.list(readListQuery(query), actorFor(request))), problem: undefined }
  } catch (error) {
    const problem = queryProblemOf(error)
    const nothing = { rows: [], total: 0, next: undefined, previous: undefined }
    return { ...nothing, sort: { field: 'id', isDescending: false }, problem }
  }
}
