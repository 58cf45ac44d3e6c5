/**
 * The pages of the user's own second factor. Secrets and codes appear only in the response to a POST: never in a URL, which
 * browsers store, and never behind a redirect.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { atFields, createRefuse, type Refusal } from '../../../platform/pages/components/refusals.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts, PendingTwoFactor } from '../console.service.ts'
import { beginPage, codesPage, disablePage, renewPage, scanPage } from './two-factor.views.ts'

const config = { access: 'authenticated', docs: false } as const
const PasswordAndCode = Type.Object({ password: OrEmpty, code: OrEmpty })

export function addTwoFactorPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { twoFactor, notices, send } = parts
  const refuse = createRefuse(send)
  const takeTurn = (request: FastifyRequest) => twoFactor.limiter.take(`user ${principalOf(request).id}`)
  const actorOf = (request: FastifyRequest) => ({ principal: principalOf(request), client: clientOf(request) })

  const forms = [
    { path: 'set-up', isForEnabled: false, page: beginPage },
    { path: 'disable', isForEnabled: true, page: disablePage },
    { path: 'recovery-codes', isForEnabled: true, page: renewPage },
  ] as const
  for (const { path, isForEnabled, page } of forms) {
    app.get(`/account/two-factor/${path}`, { config }, async (request, reply) => {
      const { enabled } = await twoFactor.status(principalOf(request).id)
      return enabled === isForEnabled ? send(request, reply, page()) : reply.redirect('/console/account', 303)
    })
  }

  async function scan(pending: PendingTwoFactor, refusal?: Refusal) {
    return scanPage({ pending, qrCode: await twoFactor.drawQrCode(pending.otpauth_url), ...(refusal && { refusal }) })
  }

  app.post(
    '/account/two-factor/set-up',
    { config, schema: { body: Type.Object({ password: OrEmpty }) } },
    async (request, reply) => {
      try {
        await takeTurn(request)
        const pending = await twoFactor.setUp({ ...actorOf(request), password: request.body.password })
        return send(request, reply, await scan(pending))
      } catch (error) {
        return refuse({ request, reply, error }, (refusal) => beginPage(atFields(refusal, { password: 'password' })))
      }
    },
  )

  app.post(
    '/account/two-factor/enable',
    { config, schema: { body: Type.Object({ ticket: OrEmpty, code: OrEmpty }) } },
    async (request, reply) => {
      const { code, ticket } = request.body
      try {
        await takeTurn(request)
        const { id: userId, tokenVersion: version } = principalOf(request)
        const codes = await twoFactor.enable({ userId, version, client: clientOf(request), code })
        return send(request, reply, codesPage({ codes, isNew: true }))
      } catch (error) {
        return refuseCode({ request, reply, error }, ticket)
      }
    },
  )

  type Refused = { request: FastifyRequest; reply: FastifyReply; error: unknown }

  /** Shows the same secret again, because the app has scanned it and only the code was mistyped. */
  async function refuseCode(refused: Refused, ticket: string): Promise<FastifyReply> {
    const { request, reply } = refused
    const { id: userId, email } = principalOf(request)
    const pending = await twoFactor.showAgain({ userId, email, ticket })
    if (pending) return refuse(refused, (refusal) => scan(pending, refusal))
    // The page with the recovery codes was reloaded; they are shown only once.
    if ((await twoFactor.status(userId)).enabled) return reply.redirect('/console/account', 303)
    return refuse(refused, () =>
      beginPage({ problems: { message: 'That took too long, or was begun anew elsewhere. Begin again.', fields: {} } }),
    )
  }

  app.post('/account/two-factor/disable', { config, schema: { body: PasswordAndCode } }, async (request, reply) => {
    try {
      await takeTurn(request)
      await twoFactor.disable({ ...actorOf(request), ...request.body })
      return notices.redirect(reply, { address: '/console/account', notice: 'two-factor-off' })
    } catch (error) {
      return refuse({ request, reply, error }, (refusal) => disablePage(atFields(refusal, fields)))
    }
  })

  app.post(
    '/account/two-factor/recovery-codes',
    { config, schema: { body: PasswordAndCode } },
    async (request, reply) => {
      try {
        await takeTurn(request)
        const codes = await twoFactor.renewRecoveryCodes({ ...actorOf(request), ...request.body })
        return send(request, reply, codesPage({ codes, isNew: false }))
      } catch (error) {
        return refuse({ request, reply, error }, (refusal) => renewPage(atFields(refusal, fields)))
      }
    },
  )
}

const fields = { password: 'password', code: 'code' }
