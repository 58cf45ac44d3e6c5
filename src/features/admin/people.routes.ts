/** Inviting, changing and deleting users. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { idOf } from '../../platform/http/ids.ts'
import { mayUpdate } from './admin.access.ts'
import type { AdminService } from './admin.create.ts'
import type { Invited } from './invitations.service.ts'
import { docs } from './people.docs.ts'
import { actorOf } from './request-actor.ts'

export async function peopleRoutes(
  app: FastifyInstance,
  { people, invitations, schemas }: Pick<AdminService, 'people' | 'invitations' | 'schemas'>,
): Promise<void> {
  app.requireForAll('authenticated')

  app.post(
    '/users',
    {
      config: { access: mayUpdate, audit: 'user_invited', docs: docs.invite },
      schema: { body: schemas.Invitation },
    },
    async (request, reply) => {
      const { email, name, roles } = request.body
      return sendInvited(reply.code(201), await invitations.invite(actorOf(request), { email, name, roles }))
    },
  )

  app.post(
    '/users/:id/invitation',
    { config: { access: mayUpdate, audit: 'user_invited', docs: docs.renew } },
    async (request, reply) => sendInvited(reply, await invitations.renew(actorOf(request), idOf(request))),
  )

  app.put(
    '/users/:id',
    {
      config: { access: mayUpdate, audit: 'user_changed', docs: docs.change },
      schema: { body: schemas.UserEdit },
    },
    async (request) => ({ data: await people.change(actorOf(request), idOf(request), request.body) }),
  )

  app.delete(
    '/users/:id',
    { config: { access: mayUpdate, audit: 'user_deleted', docs: docs.remove } },
    async (request, reply) => {
      await people.remove(actorOf(request), idOf(request))
      return reply.code(204).send()
    },
  )
}

function sendInvited(reply: FastifyReply, { user, inviteUrl }: Invited): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .send({ data: user, ...(inviteUrl !== undefined && { invite_url: inviteUrl }) })
}
