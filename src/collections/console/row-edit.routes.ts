/** Values that are changed in their row of a list. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { compressResponse } from '../../platform/http/compression.ts'
import { problemsOf } from '../../platform/pages/components/forms.ts'
import { type EditedRow, type GoneRow, rowFormNames } from '../../platform/pages/components/row-edit.ts'
import type { Notices } from '../../platform/pages/notices.ts'
import { markAsForm } from '../../platform/validation/body-validation.ts'

type Form = Readonly<Record<string, unknown>>

export interface AskedList<Row> {
  /** Of the address. */
  query: Form
  /** A row that is a form. It is shown even if the list is without it. */
  edited?: { row: Row; edit: EditedRow } | undefined
  gone?: GoneRow
  status?: number
}

export type SendList<Row> = (
  request: FastifyRequest,
  reply: FastifyReply,
  asked: AskedList<Row>,
) => Promise<FastifyReply>

export interface RowEditing<Row> {
  /** Of a row. */
  path: string
  access: Pick<RouteShorthandOptions, 'config' | 'onRequest'>
  notices: Notices
  /** The code of the notice after saving. */
  saved: string
  find(request: FastifyRequest): Promise<Row | undefined>
  findDeleted(request: FastifyRequest): Promise<{ id: number; name: string } | undefined>
  /** The columns of the form that can be edited. One that is not shown is not sent. */
  pick(form: Form): Form
  /** The texts of the form, with those of the row where it has none. */
  read(form: Form, row: Row, request: FastifyRequest): Readonly<Record<string, unknown>>
  save(request: FastifyRequest, typed: Form, edited: { row: Row; tag: string }): Promise<unknown>
  tagOf(row: Row): string
  /** What is said if it has changed since. */
  changedNote(row: Row, typed: Form): string
  /** The address of the list, of what may be anything. */
  backAddress(given: unknown): string
  sendList: SendList<Row>
}

export function addRowEditing<Row extends { id: number }>(app: FastifyInstance, editing: RowEditing<Row>): void {
  const { access, notices, sendList } = editing

  app.post<{ Body: Form }>(`${editing.path}/quick`, { ...access, onSend: compressResponse }, async (request, reply) => {
    const form = request.body ?? {}
    const address = editing.backAddress(form[rowFormNames.back])
    const query = Object.fromEntries(new URL(address, 'http://list').searchParams)
    // Browsers log a response with another status as an error of the script that asked.
    const statusFor = (status: number) => (form[rowFormNames.inPlace] === 'true' ? 200 : status)
    const sendGone = async () => {
      const gone = { deleted: await editing.findDeleted(request), typed: editing.pick(form) }
      return sendList(request, reply, { query, gone, status: statusFor(404) })
    }
    const row = await editing.find(request)
    if (!row) return sendGone()
    const typed = editing.read(form, row, request)
    const tag = String(form[rowFormNames.tag] ?? '')
    try {
      await editing.save(request, markAsForm({ ...typed }), { row, tag })
      return notices.redirect(reply, { address, notice: editing.saved })
    } catch (error) {
      const { problems, status } = problemsOf(error)
      const now = await editing.find(request)
      if (!now) return sendGone()
      const hasChanged = status === 412
      const note = hasChanged ? editing.changedNote(now, typed) : problems.message
      const edit = {
        id: now.id,
        // The user sees what is saved now and may overwrite it.
        tag: hasChanged ? editing.tagOf(now) : tag,
        typed,
        problems: problems.fields,
        ...(note !== undefined && { note }),
      }
      return sendList(request, reply, { query, edited: { row: now, edit }, status: statusFor(status) })
    }
  })
}

/** The row that the address asks to edit. */
export function editedOf<Row extends { id: number }>(row: Row | undefined, tagOf: (row: Row) => string) {
  return row && { row, edit: { id: row.id, tag: tagOf(row) } }
}

/** With the row at the top, if the list is without it: what was typed must not be lost. */
export function withRow<Row extends { id: number }>(rows: readonly Row[], row: Row | undefined): readonly Row[] {
  return row === undefined || rows.some(({ id }) => id === row.id) ? rows : [row, ...rows]
}
