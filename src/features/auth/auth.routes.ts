import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { OrEmpty } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import type { AuthService } from './auth.create.ts'
import { docs } from './auth.docs.ts'
import { deviceTokenOf, withDeviceToken } from './device-token-header.ts'

export function addAuthRoutes(app: FastifyInstance, deps: AuthService): void {
  addLoginRoutes(app, deps)
  addPasswordRoutes(app, deps)
  addSessionRoutes(app, deps)

  const jwks = { keys: deps.keys.flatMap(({ jwk }) => (jwk ? [jwk] : [])) }
  app.get('/.well-known/jwks.json', { config: { access: 'public', docs: docs.jwks } }, async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').send(jwks),
  )
}

function addLoginRoutes(app: FastifyInstance, { login, refresh, sessions, limiters }: AuthService): void {
  app.post(
    '/api/auth/login',
    {
      config: { access: 'public', docs: docs.login },
      schema: { body: Type.Object({ email: OrEmpty, password: OrEmpty }) },
      onRequest: limitedBy(limiters.login),
    },
    async (request, reply) => {
      const outcome = await login.login({
        ...request.body,
        deviceToken: deviceTokenOf(request),
        client: clientOf(request),
      })
      if (outcome.kind === 'signed_in') {
        return sendTokens(withDeviceToken(reply, outcome), { ...outcome.pair, token_type: 'Bearer' })
      }
      return sendTokens(reply, { requires_2fa: true, challenge_token: outcome.challengeToken })
    },
  )

  app.post(
    '/api/auth/refresh',
    {
      config: { access: 'public', docs: docs.refresh },
      schema: { body: Type.Object({ refresh_token: OrEmpty }) },
      onRequest: limitedBy(limiters.refresh),
    },
    async (request, reply) => {
      const key = request.headers['idempotency-key']
      const pair = await refresh.refresh({
        refreshToken: request.body.refresh_token,
        retryKey: typeof key === 'string' ? key : undefined,
        client: clientOf(request),
      })
      return sendTokens(reply, { ...pair, token_type: 'Bearer' })
    },
  )

  app.post(
    '/api/auth/2fa/verify',
    {
      config: { access: 'public', docs: docs.verify },
      schema: { body: Type.Object({ challenge_token: OrEmpty, code: OrEmpty }) },
      onRequest: limitedBy(limiters.verify),
    },
    async (request, reply) => {
      const { challenge_token: challengeToken, code } = request.body
      const deviceToken = deviceTokenOf(request)
      const signedIn = await login.verify({ challengeToken, code, deviceToken, client: clientOf(request) })
      return sendTokens(withDeviceToken(reply, signedIn), signedIn.pair)
    },
  )

  app.post(
    '/api/auth/logout',
    {
      config: { access: 'authenticated', docs: docs.logout },
      schema: { body: Type.Object({ all_devices: Type.Optional(Type.Boolean({ default: false })) }) },
    },
    async (request) => {
      const isEverywhere = request.body.all_devices
      await sessions.logOut({
        principal: principalOf(request),
        isEverywhere,
        deviceToken: deviceTokenOf(request),
        client: clientOf(request),
      })
      return { message: isEverywhere ? 'Logged out of all devices' : 'Logged out' }
    },
  )
}

function addPasswordRoutes(app: FastifyInstance, { passwords, limiters, findPasswordProblems }: AuthService): void {
  const NewPassword = Type.String({ 'x-not-blank': true, 'x-check': findPasswordProblems })
  const RemovePasskeys = Type.Optional(Type.Boolean({ default: false }))

  app.post(
    '/api/auth/password',
    {
      config: { access: 'authenticated', docs: docs.changePassword },
      schema: {
        body: Type.Object({ current_password: OrEmpty, new_password: NewPassword, remove_passkeys: RemovePasskeys }),
      },
      onRequest: (request) => limiters.confirm.take(`user ${principalOf(request).id}`),
    },
    async (request) => {
      const { current_password: current, new_password: next, remove_passkeys: removePasskeys } = request.body
      await passwords.change({
        principal: principalOf(request),
        current,
        next,
        removePasskeys,
        deviceToken: deviceTokenOf(request),
        client: clientOf(request),
      })
      return { message: 'Password changed' }
    },
  )

  app.post(
    '/api/auth/password/forgot',
    {
      config: { access: 'public', docs: docs.forgotPassword },
      schema: { body: Type.Object({ email: OrEmpty }) },
      onRequest: limitedBy(limiters.reset),
    },
    async (request, reply) => {
      if (!passwords.canMail) throw httpErrors.unavailable()
      passwords.forgot({ email: request.body.email, client: clientOf(request) })
      return reply.code(202).send({ message: 'If that email is registered, a message is on its way' })
    },
  )

  app.post(
    '/api/auth/password/reset',
    {
      config: { access: 'public', docs: docs.resetPassword },
      schema: { body: Type.Object({ token: OrEmpty, password: NewPassword, remove_passkeys: RemovePasskeys }) },
      onRequest: limitedBy(limiters.reset),
    },
    async (request) => {
      const { token, password, remove_passkeys: removePasskeys } = request.body
      await passwords.reset({ token, password, removePasskeys, client: clientOf(request) })
      return { message: 'Password changed' }
    },
  )
}

function addSessionRoutes(app: FastifyInstance, { sessions, limiters }: AuthService): void {
  app.get('/api/auth/sessions', { config: { access: 'authenticated', docs: docs.sessions } }, async (request) => {
    const principal = principalOf(request)
    const [data, ended] = await Promise.all([sessions.list(principal), sessions.listEnded(principal)])
    return { data, ended }
  })

  app.post(
    '/api/auth/sessions/ended',
    {
      config: { access: 'public', docs: docs.explainEnd },
      schema: { body: Type.Object({ refresh_token: OrEmpty }) },
      onRequest: limitedBy(limiters.refresh),
    },
    async (request, reply) => {
      const data = await sessions.explainEnd(request.body.refresh_token)
      return reply.header('cache-control', 'no-store').send({ data })
    },
  )

  app.delete<{ Params: { id: string } }>(
    '/api/auth/sessions/:id',
    { config: { access: 'authenticated', docs: docs.endSession } },
    async (request, reply) => {
      const { id } = request.params
      const isEnded =
        /^[\w-]{1,64}$/.test(id) &&
        (await sessions.end({ principal: principalOf(request), id, client: clientOf(request) }))
      if (!isEnded) throw httpErrors.notFound()
      return reply.code(204).send()
    },
  )
}

function limitedBy(limiter: Limiter) {
  return (request: FastifyRequest) => limiter.take(addressOf(request))
}

function sendTokens(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('cache-control', 'no-store').send(body)
}
