import type { FastifyInstance } from 'fastify'
import { idOf } from '../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../platform/http/paging.ts'
import { asksForList } from '../../platform/listing/list-query.ts'
import { cursorLinksOf, cursorMetaOf } from '../../platform/listing/list-responses.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { mayUpdate, mayView } from './admin.access.ts'
import { docs } from './admin.docs.ts'
import type { Admin } from './admin.service.ts'
import { actorOf } from './request-actor.ts'
import { readUserQuery } from './user-orders.ts'

/** A plugin, so that all its routes require a token, including future ones. */
export async function adminRoutes(app: FastifyInstance, { admin }: { admin: Admin }): Promise<void> {
  app.requireForAll('authenticated')

  app.get<{ Querystring: Record<string, unknown> }>(
    '/users',
    { config: { access: mayView, docs: docs.users } },
    async (request, reply) => {
      if (asksForList(request.query)) {
        const query = readUserQuery(request.query)
        const page = await admin.sorted.page(query)
        const meta = cursorMetaOf(query, page)
        const links = cursorLinksOf('/api/admin/users', request.query, meta)
        if (links !== undefined) reply.header('link', links)
        return { data: page.rows, meta }
      }
      const page = pageOf(request.query)
      const { q } = request.query
      const { users, total } = await admin.list(typeof q === 'string' ? q.trim() : '', page)
      return { data: users, meta: metaOf(page, total) }
    },
  )

  app.put(
    '/users/:id/roles',
    {
      config: { access: mayUpdate, audit: 'roles_changed', docs: docs.setRoles },
      schema: { body: Type.Object({ roles: Type.Array(Type.String()) }) },
    },
    async (request) => ({ data: await admin.setRoles(actorOf(request), idOf(request), request.body.roles) }),
  )

  const helps = [
    ['lock', admin.unlock, 'unlock'],
    ['2fa', admin.resetTwoFactor, '2fa_reset'],
    ['sessions', admin.endSessions, 'sessions_ended'],
  ] as const
  for (const [name, help, audit] of helps) {
    const config = { access: mayUpdate, audit, docs: docs[name] }
    app.delete(`/users/:id/${name}`, { config }, async (request, reply) => {
      await help(actorOf(request), idOf(request))
      return reply.code(204).send()
    })
  }
}
