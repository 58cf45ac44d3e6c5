import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { clientOf } from '../../platform/http/client.ts'
import { idOf } from '../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../platform/http/paging.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { docs } from './admin.docs.ts'
import type { Actor, Admin } from './admin.service.ts'

const canView = { permission: 'users.view' } as const
const canUpdate = { permission: 'users.update' } as const
const canAudit = { permission: 'audit.view' } as const

/** A plugin, so that all its routes require a token, including future ones. */
export async function adminRoutes(app: FastifyInstance, { admin }: { admin: Admin }): Promise<void> {
  app.requireForAll('authenticated')

  app.get<{ Querystring: { q?: unknown } }>(
    '/users',
    { config: { access: canView, docs: docs.users } },
    async (request) => {
      const page = pageOf(request.query)
      const { q } = request.query
      const { users, total } = await admin.list(typeof q === 'string' ? q.trim() : '', page)
      return { data: users, meta: metaOf(page, total) }
    },
  )

  app.put(
    '/users/:id/roles',
    {
      config: { access: canUpdate, audit: 'roles_changed', docs: docs.setRoles },
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
    const config = { access: canUpdate, audit, docs: docs[name] }
    app.delete(`/users/:id/${name}`, { config }, async (request, reply) => {
      await help(actorOf(request), idOf(request))
      return reply.code(204).send()
    })
  }

  app.get('/audit', { config: { access: canAudit, docs: docs.audit } }, async (request) => {
    const page = pageOf(request.query)
    const { rows, total } = await admin.listAudit(page)
    return { data: rows.map(({ email: _email, actor_email: _actor, ...row }) => row), meta: metaOf(page, total) }
  })
}

function actorOf(request: FastifyRequest): Actor {
  const principal = principalOf(request)
  return { id: principal.id, holder: principal, client: clientOf(request) }
}
