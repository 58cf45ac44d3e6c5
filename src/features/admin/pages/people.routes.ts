/** Forms that invite, change, disable and delete users. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import { mayUpdatePages } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'
import type { Invited } from '../invitations.service.ts'
import { actorOf } from '../request-actor.ts'
import { type InviteView, inviteLinkPage, invitePage } from './invite.views.ts'
import { inOtherWords } from './refusal-words.ts'
import type { UserView } from './user.views.ts'

const Text = Type.Optional(Type.String({ default: '' }))
const Person = { email: Text, name: Text }

export type ShowUser = (request: FastifyRequest, refused?: Partial<UserView>) => Promise<Page>

export interface PeoplePagesParts extends PageKit, AdminService {
  show: ShowUser
}

export function addPeoplePages(app: FastifyInstance, parts: PeoplePagesParts): void {
  addInvitePages(app, parts)
  addChangePages(app, parts)
}

function addInvitePages(app: FastifyInstance, parts: PeoplePagesParts): void {
  const { admin, users, invitations, validateInvitation, notices, send, show } = parts
  const refuse = createRefuse(send)
  const isMailed = invitations.delivery === 'mail'

  const invite = (request: FastifyRequest, more: Partial<InviteView> = {}) =>
    invitePage({ roles: admin.listRoles(actorOf(request)), chosen: users.defaultRoles, isMailed, ...more })

  const tell = (request: FastifyRequest, reply: FastifyReply, { user, inviteUrl }: Invited) =>
    inviteUrl === undefined
      ? notices.redirect(reply, { address: `/console/users/${user.id}`, notice: 'user-invited' })
      : send(request, reply, inviteLinkPage({ user, inviteUrl }))

  app.get('/users/invite', { config: mayUpdatePages }, async (request, reply) => send(request, reply, invite(request)))

  app.post(
    '/users/invite',
    {
      config: { ...mayUpdatePages, audit: 'user_invited' },
      // Validated below, where problems are shown with the form.
      schema: {
        body: Type.Object({ ...Person, roles: Type.Optional(Type.Array(Type.String(), { default: [] })) }),
      },
    },
    async (request, reply) => {
      const { body } = request
      try {
        const { email, name } = validateInvitation(body)
        return tell(request, reply, await invitations.invite(actorOf(request), { email, name, roles: body.roles }))
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, ({ problems }) =>
          invite(request, { values: body, chosen: body.roles, problems }),
        )
      }
    },
  )

  app.post(
    '/users/:id/invitation',
    { config: { ...mayUpdatePages, audit: 'user_invited' } },
    async (request, reply) => {
      try {
        return tell(request, reply, await invitations.renew(actorOf(request), idOf(request)))
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal }))
      }
    },
  )
}

function addChangePages(app: FastifyInstance, parts: PeoplePagesParts): void {
  const { people, validateEdit, notices, send, show } = parts
  const refuse = createRefuse(send)

  app.post(
    '/users/:id/edit',
    { config: { ...mayUpdatePages, audit: 'user_changed' }, schema: { body: Type.Object(Person) } },
    async (request, reply) => {
      const values = request.body
      // The form for oneself has no email.
      const { email, ...others } = values
      const isOwn = idOf(request) === principalOf(request).id
      try {
        const edit = validateEdit(isOwn && email === '' ? others : values)
        const { id } = await people.change(actorOf(request), idOf(request), edit)
        return notices.redirect(reply, { address: `/console/users/${id}`, notice: 'user-saved' })
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal, values }))
      }
    },
  )

  const acts = [
    ['disable', (...given: Act) => people.change(...given, { disabled: true }), 'user-disabled', 'user_disabled'],
    ['enable', (...given: Act) => people.change(...given, { disabled: false }), 'user-enabled', 'user_enabled'],
    ['delete', people.remove, 'user-deleted', 'user_deleted'],
  ] as const
  for (const [name, act, notice, audit] of acts) {
    app.post(`/users/:id/${name}`, { config: { ...mayUpdatePages, audit } }, async (request, reply) => {
      const id = idOf(request)
      try {
        await act(actorOf(request), id)
      } catch (error) {
        return refuse({ request, reply, error: inOtherWords(error) }, (refusal) => show(request, { refusal }))
      }
      const address = name === 'delete' ? '/console/users' : `/console/users/${id}`
      return notices.redirect(reply, { address, notice })
    })
  }
}

type Act = Parameters<AdminService['people']['remove']>
