/** The pages of users, for administrators. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { sendCsv } from '../../../platform/csv/csv-download.ts'
import { compressResponse } from '../../../platform/http/compression.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { metaOf, pageOf } from '../../../platform/http/paging.ts'
import { chooseColumns, columnsParameter } from '../../../platform/pages/components/columns.ts'
import { listAddress } from '../../../platform/pages/components/list-links.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import { isAllPicked } from '../../../platform/pages/components/row-picks.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { mayUpdatePages, mayViewPages, permissions } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'
import { actorOf } from '../request-actor.ts'
import { userOrders } from '../user-orders.ts'
import type { ShowUser } from './people.routes.ts'
import { inOtherWords } from './refusal-words.ts'
import { userPage } from './user.views.ts'
import { userColumns } from './user-columns.ts'
import { usersPage } from './users.views.ts'
import { exportUsers } from './users-export.ts'
import { readUsersQuery } from './users-query.ts'

const perPage = 20

type ListRequest = FastifyRequest<{ Querystring: Record<string, unknown> }>

function addListPages(app: FastifyInstance, { admin, send }: Pick<PageKit & AdminService, 'admin' | 'send'>): void {
  app.get('/users', { config: mayViewPages, onSend: compressResponse }, async (request: ListRequest, reply) => {
    const { q, shown, query, problem } = readUsersQuery(request.query, perPage)
    const chosen = chooseColumns(userColumns, request.query.columns)
    const view = {
      q,
      query: { ...shown, ...columnsParameter(userColumns, chosen) },
      // A search is by registration.
      sort: query?.sort ?? (q === '' ? userOrders.defaultSort : undefined),
      chosen,
      isPicked: isAllPicked(request.query),
      roles: admin.listRoles(actorOf(request)).map(({ name }) => name),
      canChange: principalOf(request).can(permissions.updateUsers),
      problem,
    }
    if (problem !== undefined) return send(request, reply, usersPage(view), 422)
    if (query) return send(request, reply, usersPage({ ...view, sorted: await admin.sorted.page(query) }))
    const page = { page: pageOf(request.query).page, perPage }
    const { users, total } = await admin.list(q, page)
    return send(request, reply, usersPage({ ...view, listed: { users, meta: metaOf(page, total) } }))
  })

  app.get('/users/export', { config: mayViewPages, onSend: compressResponse }, async (request: ListRequest, reply) => {
    const asked = readUsersQuery(request.query, perPage)
    // The page says what is wrong.
    if (asked.problem !== undefined) return reply.redirect(listAddress('/console/users', asked.shown), 303)
    return sendCsv(request, reply, exportUsers(admin.sorted, asked))
  })
}

export function addUserPages(
  app: FastifyInstance,
  { admin, notices, cards, send, home }: PageKit & AdminService,
): ShowUser {
  const refuse = createRefuse(send)

  addListPages(app, { admin, send })

  const show: ShowUser = async (request, refused = {}) => {
    const actor = actorOf(request)
    const found = await admin.findStored(idOf(request))
    if (!found) throw httpErrors.notFound()
    const { user, isInvited } = found
    const reach = principalOf(request).can(permissions.updateUsers) ? admin.reachOf(actor, user) : 'view'
    const shown = { id: user.id, email: user.email, canChange: reach === 'change' }
    return userPage({
      user,
      isInvited,
      reach,
      roles: admin.listRoles(actor),
      cards: await cards.ofUser(shown, request),
      ...refused,
    })
  }

  app.get('/users/:id', { config: mayViewPages }, async (request, reply) => send(request, reply, await show(request)))

  app.post(
    '/users/:id/roles',
    {
      config: { ...mayUpdatePages, audit: 'roles_changed' },
      // Unchecked checkboxes are not submitted.
      schema: { body: Type.Object({ roles: Type.Optional(Type.Array(Type.String(), { default: [] })) }) },
    },
    async (request, reply) => {
      const chosen = request.body.roles
      try {
        const { id } = await admin.setRoles(actorOf(request), idOf(request), chosen)
        // Administrators who removed their own role may no longer view this page.
        const canStay = (await request.identify?.(request))?.can(permissions.viewUsers) ?? false
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
    app.post(`/users/:id/${name}`, { config: { ...mayUpdatePages, audit } }, async (request, reply) => {
      const id = idOf(request)
      try {
        await help(actorOf(request), id)
        return notices.redirect(reply, { address: `/console/users/${id}`, notice })
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal }))
      }
    })
  }

  return show
}
