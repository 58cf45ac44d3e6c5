/** Changes the user's email, and serves the pages that mails link to. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { problemPage } from '../../../platform/pages/components/problem-page.ts'
import { atFields, createRefuse } from '../../../platform/pages/components/refusals.ts'
import { OrEmpty, validationFailed } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'
import type { ShowAccount } from './account.routes.ts'
import { confirmPage, linkOverPage } from './email.views.ts'

const config = { access: 'authenticated', docs: false } as const
const open = { access: 'public', docs: false } as const
const LinkForm = Type.Object({ token: OrEmpty, password: OrEmpty })

type LinkPost = { Body: { token: string; password: string } }
const linkOver = ['invalid_verification_token', 'invalid_confirmation_token']

export function addEmailPages(app: FastifyInstance, parts: ConsoleParts & { show: ShowAccount }): void {
  const { users, profile, notices, send, show } = parts
  const refuse = createRefuse(send)

  app.post<{ Body: { email: string; email_password: string } }>(
    '/account/email',
    { config, schema: { body: Type.Object({ email: OrEmpty, email_password: OrEmpty }) } },
    async (request, reply) => {
      const principal = principalOf(request)
      const { email: typedEmail, email_password: password } = request.body
      try {
        await profile.limiter.take(`user ${principal.id}`)
        const { email } = users.validateEmail({ email: typedEmail })
        const { isChanged } = await profile.email.request({ principal, email, password, client: clientOf(request) })
        const notice = isChanged ? 'email-changed' : 'email-link-sent'
        return notices.redirect(reply, { address: '/console/account', notice })
      } catch (error) {
        return refuse({ request, reply, error }, (refusal) =>
          show(request, { typedEmail, emailRefusal: atFields(refusal, { password: 'email_password' }) }),
        )
      }
    },
  )

  app.post('/account/verification', { config }, async (request, reply) => {
    const { id } = principalOf(request)
    await profile.limiter.take(`user ${id}`)
    profile.verification.request(id)
    return notices.redirect(reply, { address: '/console/account', notice: 'verification-sent' })
  })

  addLinkPages(app, parts)
}

/** The pages that mails link to. They take the session of the account, or its password. */
function addLinkPages(app: FastifyInstance, { profile, cookies, notices, send }: ConsoleParts): void {
  const refuse = createRefuse(send)
  const links = [
    { path: '/verify', kind: 'verify', find: profile.verification.find, use: profile.verification.verify },
    { path: '/email/confirm', kind: 'confirm', find: profile.email.find, use: profile.email.confirm },
  ] as const
  for (const { path, kind, find, use } of links) {
    app.get<{ Querystring: { token?: unknown } }>(path, { config: open }, async (request, reply) => {
      await profile.tokenLimiter.take(addressOf(request))
      const token = typeof request.query.token === 'string' ? request.query.token.trim() : ''
      const account = await find(token)
      if (!account) return sendOver(request, reply)
      return send(request, reply, confirmPage({ token, kind, account, viewer: request.principal }))
    })

    app.post<LinkPost>(path, { config: open, schema: { body: LinkForm } }, async (request, reply) => {
      await profile.tokenLimiter.take(addressOf(request))
      const { principal: viewer } = request
      const { token, password } = request.body
      const account = await find(token)
      if (!account) return sendOver(request, reply)
      const isOwner = viewer?.id === account.user_id
      try {
        if (!isOwner && password === '') throw validationFailed({ password: ['Must not be blank'] })
        const deviceToken = cookies.device(request)
        await use({ token, principal: viewer, password, deviceToken, client: clientOf(request) })
      } catch (error) {
        if (isAppError(error, 'email_already_registered')) return send(request, reply, problemPage(error), error.status)
        // The link was used in the meantime.
        if (linkOver.some((code) => isAppError(error, code))) return sendOver(request, reply)
        return refuse({ request, reply, error }, (refusal) =>
          confirmPage({ token, kind, account, viewer, refusal: atFields(refusal, { password: 'password' }) }),
        )
      }
      const address = isOwner ? '/console/account' : '/console/sign-in'
      return notices.redirect(reply, { address, notice: kind === 'verify' ? 'email-verified' : 'email-changed' })
    })
  }

  function sendOver(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return send(request, reply, linkOverPage(), 410)
  }
}
