/** The pages of users, for administrators. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../../core/app-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../../platform/http/paging.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { AdminService } from '../admin.create.ts'
import type { Actor } from '../admin.service.ts'
import { type UserView, userPage } from './user.views.ts'
import { usersPage } from './users.views.ts'

const mayView = { access: { permission: 'users.view' }, docs: false } as const
// users.view too, because a refusal is shown on the user's page.
const mayUpdate = { access: [mayView.access, { permission: 'users.update' }], docs: false } as const

export function addUserPages(
  app: FastifyInstance,
  { admin, notices, cards, send, home }: PageKit & AdminService,
): void {
  const refuse = createRefuse(send)

  app.get<{ Querystring: { q?: unknown } }>('/users', { config: mayView }, async (request, reply) => {
    const page = pageOf(request.query)
    const q = typeof request.query.q === 'string' ? request.query.q.trim() : ''
    const { users, total } = await admin.list(q, page)
    return send(request, reply, usersPage({ users, q, meta: metaOf(page, total) }))
  })

  async function show(request: FastifyRequest, refused: Pick<UserView, 'refusal' | 'chosen'> = {}): Promise<Page> {
    const principal = principalOf(request)
    const user = await admin.find(idOf(request))
    if (!user) throw httpErrors.notFound()
    const canChange = admin.canChange({ holder: principal }, user) ? 'change' : 'beyond'
    const reach = principal.can('users.update') ? canChange : 'view'
    const shown = { id: user.id, email: user.email, canChange: reach === 'change' }
    return userPage({
      user,
      reach,
      roles: admin.listRoles({ holder: principal }),
      cards: await cards.ofUser(shown, request),
      ...refused,
    })
  }

  app.get('/users/:id', { config: mayView }, async (request, reply) => send(request, reply, await show(request)))

  app.post(
    '/users/:id/roles',
    {
      config: { ...mayUpdate, audit: 'roles_changed' },
      // Unchecked checkboxes are not submitted.
      schema: { body: Type.Object({ roles: Type.Optional(Type.Array(Type.String(), { default: [] })) }) },
    },
    async (request, reply) => {
      const chosen = request.body.roles
      try {
        const { id } = await admin.setRoles(actorOf(request), idOf(request), chosen)
        // Administrators who removed their own role may no longer view this page.
        const canStay = (await request.identify?.(request))?.can('users.view') ?? false
        const address = canStay ? `/console/users/${id}` : home
        return notices.redirect(reply, { address, notice: 'roles-saved' })
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal, chosen }))
      }
    },
  )

  const helps = [
    ['unlock', admin.unlock, 'unlocked', 'unlock'],
    ['reset-2fa', admin.resetTwoFactor, 'two-factor-reset', '2fa_reset'],
    ['sign-out', admin.endSessions, 'user-signed-out', 'sessions_ended'],
  ] as const
  for (const [name, help, notice, audit] of helps) {
    app.post(`/users/:id/${name}`, { config: { ...mayUpdate, audit } }, async (request, reply) => {
      const id = idOf(request)
      try {
        await help(actorOf(request), id)
        return notices.redirect(reply, { address: `/console/users/${id}`, notice })
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal }))
      }
    })
  }
}

function actorOf(request: FastifyRequest): Actor {
  const principal = principalOf(request)
  return { id: principal.id, holder: principal, client: clientOf(request) }
}

const words: Readonly<Record<number, string>> = {
  403: 'That is refused: the role or the user holds permissions that you lack.',
  409: 'This is the last administrator. Somebody has to stay one: give the role to another user first.',
}

/** Replaces the short texts of the API with full sentences. */
function inOtherWords(error: unknown): unknown {
  const text = error instanceof AppError ? words[error.status] : undefined
  return error instanceof AppError && text !== undefined ? new AppError(error.status, text) : error
}
