import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { metaOf, pageOf } from '../../platform/http/paging.ts'
import { asksForList, readListQuery } from '../../platform/listing/list-query.ts'
import { cursorLinksOf, cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { mayAudit, permissions } from './admin.access.ts'
import { docs } from './audit.docs.ts'
import { auditOrders } from './audit-orders.ts'
import { type AuditRow, type AuditTrailStore, withoutPersonalData } from './audit-trail.store.ts'

export interface AuditRoutesDeps {
  auditTrail: Pick<AuditTrailStore, 'list' | 'page'>
}

export async function auditRoutes(app: FastifyInstance, { auditTrail }: AuditRoutesDeps): Promise<void> {
  app.requireForAll('authenticated')

  app.get<{ Querystring: Record<string, unknown> }>(
    '/audit',
    { config: { access: mayAudit, docs: docs.audit } },
    async (request, reply) => {
      if (!asksForList(request.query)) {
        const page = pageOf(request.query)
        const { rows, total } = await auditTrail.list(page)
        return { data: rows.map(resourceFor(request)), meta: metaOf(page, total) }
      }
      const query = readListQuery(request.query, auditOrders)
      const page = await auditTrail.page(query)
      const meta = cursorMetaOf(query, page)
      const links = cursorLinksOf('/api/admin/audit', request.query, meta)
      if (links !== undefined) reply.header('link', links)
      return { data: page.rows.map(resourceFor(request)), meta }
    },
  )
}

function resourceFor(request: FastifyRequest) {
  const canSeeUsers = principalOf(request).can(permissions.viewUsers)
  return (row: AuditRow) => {
    const { email: _email, actor_email: _actor, ...entry } = canSeeUsers ? row : withoutPersonalData(row)
    return entry
  }
}
