import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { clientOf } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { idOf } from '../../platform/http/ids.ts'
import type { ApiKeysService } from './api-keys.create.ts'
import { docs } from './api-keys.docs.ts'
import type { NewKeyBody } from './api-keys.schema.ts'

export function addApiKeyRoutes(app: FastifyInstance, keys: ApiKeysService): void {
  addOwnKeyRoutes(app, keys)
  addUserKeyRoutes(app, keys)
}

/** Below /api/auth, where API keys are refused: only signed-in users create and end keys. */
function addOwnKeyRoutes(app: FastifyInstance, keys: ApiKeysService): void {
  const access = 'authenticated'

  app.get('/api/auth/keys', { config: { access, docs: docs.list } }, async (request) => ({
    data: await keys.list(principalOf(request).id),
  }))

  app.post<{ Body: NewKeyBody }>(
    '/api/auth/keys',
    { config: { access, docs: docs.create }, schema: { body: keys.NewKey } },
    async (request, reply) => {
      const made = await keys.create({
        principal: principalOf(request),
        body: request.body,
        client: clientOf(request),
      })
      return reply.code(201).header('cache-control', 'no-store').send(made)
    },
  )

  app.delete<{ Params: { id: string } }>(
    '/api/auth/keys/:id',
    { config: { access, docs: docs.end } },
    async (request, reply) => {
      const { id: userId } = principalOf(request)
      const { id } = request.params
      if (!(await keys.end({ userId, id, actorId: userId, client: clientOf(request) }))) throw httpErrors.notFound()
      return reply.code(204).send()
    },
  )
}

/** For administrators. */
function addUserKeyRoutes(app: FastifyInstance, keys: ApiKeysService): void {
  app.get(
    '/api/admin/users/:id/keys',
    { config: { access: { permission: 'users.view' }, docs: docs.listOfUser } },
    async (request) => {
      const user = await keys.admin.find(idOf(request))
      if (!user) throw httpErrors.notFound()
      return { data: await keys.list(user.id) }
    },
  )

  app.delete<{ Params: { key: string } }>(
    '/api/admin/users/:id/keys/:key',
    { config: { access: { permission: 'users.update' }, audit: 'api_key_ended', docs: docs.endOfUser } },
    async (request, reply) => {
      const principal = principalOf(request)
      const client = clientOf(request)
      const actor = { id: principal.id, holder: principal, client }
      const { user } = await keys.admin.findTarget({ event: 'api_key_ended', actor }, idOf(request))
      const ending = { userId: user.id, id: request.params.key, actorId: principal.id, client }
      if (!(await keys.end(ending))) throw httpErrors.notFound()
      return reply.code(204).send()
    },
  )
}
