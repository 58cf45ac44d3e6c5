/** The page of the audit trail, and its file. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { sendCsv } from '../../../platform/csv/csv-download.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { metaOf, pageOf } from '../../../platform/http/paging.ts'
import { chooseColumns, columnsParameter } from '../../../platform/pages/components/columns.ts'
import { listAddress } from '../../../platform/pages/components/list-links.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { mayAudit, permissions } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'
import { auditOrders } from '../audit-orders.ts'
import { auditPage } from './audit.views.ts'
import { auditColumns } from './audit-columns.ts'
import { exportAudit } from './audit-export.ts'
import { readAuditQuery } from './audit-query.ts'

const path = '/console/audit'
const config = { access: mayAudit, docs: false } as const
const perPage = 20

type Request = FastifyRequest<{ Querystring: Record<string, unknown> }>

export function addAuditPages(app: FastifyInstance, { admin, auditTrail, send }: PageKit & AdminService): void {
  const { events, describe, retentionDays } = auditTrail
  const findId = async (email: string) => (await admin.findByEmail(email))?.id

  const read = (request: Request, canSeeUsers: boolean) =>
    readAuditQuery(request.query, { perPage, findId: canSeeUsers ? findId : undefined })

  const canSee = (request: Request) => principalOf(request).can(permissions.viewUsers)

  app.get('/audit', { config, onSend: compressResponse }, async (request: Request, reply) => {
    const canSeeUsers = canSee(request)
    const { shown, isSorted, query, problem } = await read(request, canSeeUsers)
    const columns = auditColumns({ canSeeUsers, describe })
    const chosen = chooseColumns(columns, request.query.columns)
    const view = {
      query: { ...shown, ...columnsParameter(columns, chosen) },
      sort: query?.sort ?? auditOrders.defaultSort,
      columns,
      chosen,
      canSeeUsers,
      events,
      retentionDays,
      problem,
    }
    if (!query) return send(request, reply, auditPage(view), 422)
    if (isSorted) return send(request, reply, auditPage({ ...view, sorted: await auditTrail.page(query) }))
    const page = { page: pageOf(request.query).page, perPage }
    const { rows, total } = await auditTrail.list(page)
    return send(request, reply, auditPage({ ...view, listed: { rows, meta: metaOf(page, total) } }))
  })

  app.get('/audit/export', { config, onSend: compressResponse }, async (request: Request, reply) => {
    const canSeeUsers = canSee(request)
    const { shown, query } = await read(request, canSeeUsers)
    // The page says what is wrong.
    if (!query) return reply.redirect(listAddress(path, shown), 303)
    return sendCsv(request, reply, exportAudit(auditTrail, { query, canSeeUsers }))
  })
}
