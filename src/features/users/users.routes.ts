import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../platform/http/client.ts'
import type { UsersService } from './users.create.ts'
import { docs } from './users.docs.ts'
import { registrationClosed } from './users.service.ts'

export function addUserRoutes(app: FastifyInstance, users: UsersService): void {
  app.post(
    '/api/auth/register',
    {
      config: { access: 'public', docs: docs.register },
      schema: { body: users.Registration },
      onRequest: async (request) => {
        await users.registrations.take(addressOf(request))
        // Before validation: nobody should mend a body for a registration that is closed.
        if (!users.isRegistrationOpen) throw registrationClosed()
      },
    },
    async (request, reply) => {
      const user = await users.register({ ...request.body, client: clientOf(request) })
      return reply.code(201).send({ data: user, message: 'Registration successful' })
    },
  )

  // The specification names the path without a prefix; both are served.
  for (const path of ['/me', '/api/auth/me'] as const) {
    app.get(
      path,
      { config: { access: ['authenticated', { keyPermission: null }], docs: docs[path] } },
      async (request) => {
        const { id, email, name, roles } = principalOf(request)
        return { id, email, name, roles }
      },
    )
  }
}
