import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { clientOf } from '../../platform/http/client.ts'
import type { Limiter } from '../../platform/limiter/limiter.ts'
import { OrEmpty } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { toQrCode } from './qr-code.ts'
import { docs } from './two-factor.docs.ts'
import type { TwoFactor } from './two-factor.service.ts'

const PasswordAndCode = Type.Object({ password: OrEmpty, code: OrEmpty })
const access = 'authenticated'

export interface TwoFactorRoutesDeps {
  twoFactor: TwoFactor
  /** By user, because every request costs a hash or is a guess. */
  limiter: Limiter
}

export function addTwoFactorRoutes(app: FastifyInstance, { twoFactor, limiter }: TwoFactorRoutesDeps): void {
  const onRequest = (request: FastifyRequest) => limiter.take(`user ${principalOf(request).id}`)

  app.get('/api/auth/2fa', { config: { access, docs: docs.status } }, (request) =>
    twoFactor.status(principalOf(request).id),
  )

  app.post(
    '/api/auth/2fa/setup',
    { config: { access, docs: docs.setUp }, onRequest, schema: { body: Type.Object({ password: OrEmpty }) } },
    async (request, reply) => {
      const { secret, otpauth_url } = await twoFactor.setUp({
        principal: principalOf(request),
        client: clientOf(request),
        password: request.body.password,
      })
      const qr_code = await toQrCode(otpauth_url)
      return reply.header('cache-control', 'no-store').send({ secret, otpauth_url, qr_code })
    },
  )

  app.post(
    '/api/auth/2fa/enable',
    { config: { access, docs: docs.enable }, onRequest, schema: { body: Type.Object({ code: OrEmpty }) } },
    async (request, reply) => {
      const { id: userId, tokenVersion: version } = principalOf(request)
      const codes = await twoFactor.enable({ userId, version, client: clientOf(request), code: request.body.code })
      return reply
        .header('cache-control', 'no-store')
        .send({ recovery_codes: codes, message: 'Two-factor enabled. Keep the recovery codes in a safe place.' })
    },
  )

  app.post(
    '/api/auth/2fa/disable',
    { config: { access, docs: docs.disable }, onRequest, schema: { body: PasswordAndCode } },
    async (request) => {
      await twoFactor.disable({ principal: principalOf(request), client: clientOf(request), ...request.body })
      return { message: 'Two-factor disabled' }
    },
  )

  app.post(
    '/api/auth/2fa/recovery-codes',
    { config: { access, docs: docs.renewRecoveryCodes }, onRequest, schema: { body: PasswordAndCode } },
    async (request, reply) => {
      const principal = principalOf(request)
      const codes = await twoFactor.renewRecoveryCodes({ principal, client: clientOf(request), ...request.body })
      return reply.header('cache-control', 'no-store').send({ recovery_codes: codes })
    },
  )
}
