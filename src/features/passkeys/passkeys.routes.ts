import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../platform/http/client.ts'
import { idOf } from '../../platform/http/ids.ts'
import { OrEmpty } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import type { UsablePasskeys } from './passkeys.create.ts'
import { docs } from './passkeys.docs.ts'
import { AuthenticationResponse, Name, RegistrationResponse } from './passkeys.schema.ts'

const Password = Type.Object({ password: OrEmpty })

export function addPasskeyRoutes(app: FastifyInstance, passkeys: UsablePasskeys): void {
  addOwnRoutes(app, passkeys)
  addLoginRoutes(app, passkeys)
  addAdministrationRoutes(app, passkeys)
}

function addOwnRoutes(app: FastifyInstance, { own, limiters }: UsablePasskeys): void {
  const access = 'authenticated'
  const onRequest = (request: FastifyRequest) => limiters.own.take(`user ${principalOf(request).id}`)
  const actorOf = (request: FastifyRequest) => ({ principal: principalOf(request), client: clientOf(request) })

  app.get('/api/auth/passkeys', { config: { access, docs: docs.list } }, async (request) => ({
    data: await own.list(principalOf(request).id),
  }))

  app.post(
    '/api/auth/passkeys/options',
    { config: { access, docs: docs.creationOptions }, onRequest, schema: { body: Password } },
    async (request, reply) => {
      const options = await own.createOptions({ ...actorOf(request), password: request.body.password })
      return reply.header('cache-control', 'no-store').send(options)
    },
  )

  app.post(
    '/api/auth/passkeys',
    {
      config: { access, docs: docs.add },
      onRequest,
      schema: { body: Type.Object({ name: Name, response: RegistrationResponse }) },
    },
    async (request, reply) => reply.code(201).send({ data: await own.add({ ...actorOf(request), ...request.body }) }),
  )

  app.delete<{ Params: { id: string } }>(
    '/api/auth/passkeys/:id',
    { config: { access, docs: docs.remove }, onRequest, schema: { body: Password } },
    async (request, reply) => {
      const { password } = request.body as { password: string }
      await own.remove({ ...actorOf(request), id: request.params.id, password })
      return reply.code(204).send()
    },
  )
}

function addLoginRoutes(app: FastifyInstance, { login, limiters, deviceHeader }: UsablePasskeys): void {
  const access = 'public'

  app.post(
    '/api/auth/passkeys/login/options',
    {
      config: { access, docs: docs.requestOptions },
      onRequest: (request) => limiters.options.take(addressOf(request)),
    },
    async (_request, reply) => reply.header('cache-control', 'no-store').send(login.createOptions()),
  )

  app.post(
    '/api/auth/passkeys/login',
    {
      config: { access, docs: docs.login },
      onRequest: (request) => limiters.login.take(addressOf(request)),
      schema: { body: Type.Object({ response: AuthenticationResponse }) },
    },
    async (request, reply) => {
      const signedIn = await login.logIn({
        response: request.body.response,
        deviceToken: deviceHeader.read(request),
        client: clientOf(request),
      })
      return deviceHeader
        .write(reply, signedIn)
        .header('cache-control', 'no-store')
        .send({ ...signedIn.pair, token_type: 'Bearer' })
    },
  )
}

function addAdministrationRoutes(app: FastifyInstance, { administration }: UsablePasskeys): void {
  const access = { permission: 'users.update' }

  app.get('/api/admin/users/:id/passkeys', { config: { access, docs: docs.listOfUser } }, async (request) => ({
    data: await administration.list(idOf(request)),
  }))

  app.delete<{ Params: { passkey: string } }>(
    '/api/admin/users/:id/passkeys/:passkey',
    { config: { access, audit: 'passkey_removed', docs: docs.removeOfUser } },
    async (request, reply) => {
      const principal = principalOf(request)
      const actor = { id: principal.id, holder: principal, client: clientOf(request) }
      await administration.remove({ actor, userId: idOf(request), id: request.params.passkey })
      return reply.code(204).send()
    },
  )
}
