import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isBearer, principalOf, requireBearer } from '../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import { OrEmpty } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import type { ProfileService } from './profile.create.ts'
import { docs } from './profile.docs.ts'

const access = 'authenticated'
const LinkBody = Type.Object({ token: OrEmpty, password: OrEmpty })

type WithLink = { Body: { token: string; password: string } }

export function addProfileRoutes(app: FastifyInstance, profile: ProfileService): void {
  const perUser = (request: FastifyRequest) => profile.limiter.take(`user ${principalOf(request).id}`)
  app.put<{ Body: { name: string } }>(
    '/api/auth/me',
    { config: { access, docs: docs.rename }, onRequest: perUser, schema: { body: profile.Profile } },
    async (request) => {
      const { id, email, roles } = principalOf(request)
      const { name } = request.body
      await profile.rename({ id, name, client: clientOf(request) })
      return { id, email, name, roles }
    },
  )

  app.delete<{ Body: { password: string; code: string } }>(
    '/api/auth/me',
    {
      config: { access, docs: docs.remove },
      onRequest: perUser,
      schema: { body: Type.Object({ password: OrEmpty, code: OrEmpty }) },
    },
    async (request, reply) => {
      await profile.removeAccount({ principal: principalOf(request), client: clientOf(request), ...request.body })
      return reply.code(204).send()
    },
  )

  app.post<{ Body: { email: string; password: string } }>(
    '/api/auth/email',
    {
      config: { access, docs: docs.changeEmail },
      onRequest: perUser,
      schema: { body: Type.Object({ email: profile.EmailAddress, password: OrEmpty }) },
    },
    async (request, reply) => {
      const given = { principal: principalOf(request), client: clientOf(request), ...request.body }
      const { isChanged } = await profile.email.request(given)
      return isChanged
        ? { message: 'Email changed' }
        : reply.code(202).send({ message: 'A message to the new address is on its way' })
    },
  )

  app.post(
    '/api/auth/email/verification',
    { config: { access, docs: docs.requestVerification }, onRequest: perUser },
    async (request, reply) => {
      if (!profile.canMail) throw httpErrors.unavailable()
      profile.verification.request(principalOf(request).id)
      return reply.code(202).send({ message: 'A message is on its way' })
    },
  )

  addLinkRoutes(app, profile)
}

/** For the tokens of mails. They require a session of the account or its password, so access tokens are optional. */
function addLinkRoutes(app: FastifyInstance, profile: ProfileService): void {
  async function onRequest(request: FastifyRequest): Promise<void> {
    await profile.tokenLimiter.take(addressOf(request))
    if (!isBearer(request.headers.authorization)) return
    request.principal = await profile.authenticate(requireBearer(request))
    if (!request.principal) throw httpErrors.invalidToken()
  }

  const confirmationOf = (request: FastifyRequest<WithLink>) => ({
    ...request.body,
    principal: request.principal,
    deviceToken: profile.deviceTokenOf(request),
    client: clientOf(request),
  })

  app.post<WithLink>(
    '/api/auth/email/confirm',
    { config: { access: 'public', docs: docs.confirmEmail }, onRequest, schema: { body: LinkBody } },
    async (request) => {
      await profile.email.confirm(confirmationOf(request))
      return { message: 'Email changed' }
    },
  )

  app.post<WithLink>(
    '/api/auth/email/verify',
    { config: { access: 'public', docs: docs.verifyEmail }, onRequest, schema: { body: LinkBody } },
    async (request) => {
      await profile.verification.verify(confirmationOf(request))
      return { message: 'Email verified' }
    },
  )
}
