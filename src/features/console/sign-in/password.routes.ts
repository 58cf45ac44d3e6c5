/** The pages for a forgotten password, and for the link in the mail. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { passwordHint } from '../../../platform/pages/components/password-hint.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import { OrEmpty, validationFailed } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'
import { forgotPage, noMailPage, overPage, resetPage } from './password.views.ts'

const config = { access: 'public', docs: false } as const
const ResetForm = Type.Object({
  token: OrEmpty,
  password: OrEmpty,
  remove_passkeys: Type.Optional(Type.Boolean({ default: false })),
})

export function addPasswordPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { notices, send } = parts
  const { passwords, credentials, limiters, findPasswordProblems } = parts.auth
  const { delivery } = passwords
  const refuse = createRefuse(send)
  const view = { hint: passwordHint(findPasswordProblems), delivery, hasPasskeys: credentials.hasPasskeys() }
  const takeTurn = (request: FastifyRequest) => limiters.reset.take(addressOf(request))
  const sendOver = (request: FastifyRequest, reply: FastifyReply) => send(request, reply, overPage({ delivery }), 410)

  app.get('/password/forgot', { config }, (request, reply) =>
    delivery === 'none' ? send(request, reply, noMailPage(), 503) : send(request, reply, forgotPage({ delivery })),
  )

  app.post(
    '/password/forgot',
    { config, schema: { body: Type.Object({ email: OrEmpty }) } },
    async (request, reply) => {
      if (delivery === 'none') return send(request, reply, noMailPage(), 503)
      try {
        await takeTurn(request)
        passwords.forgot({ email: request.body.email, client: clientOf(request) })
        return delivery === 'mail'
          ? notices.redirect(reply, { address: '/console/sign-in', notice: 'reset-sent' })
          : notices.redirect(reply, { address: '/console/password/reset', notice: 'reset-logged' })
      } catch (error) {
        return refuse({ request, reply, error }, ({ problems }) => forgotPage({ delivery, problems }))
      }
    },
  )

  app.get<{ Querystring: { token?: unknown } }>('/password/reset', { config }, async (request, reply) => {
    const token = typeof request.query.token === 'string' ? request.query.token.trim() : ''
    if (token !== '') {
      await takeTurn(request)
      const account = await passwords.describeReset(token)
      if (!account) return sendOver(request, reply)
      return send(request, reply, resetPage({ ...view, token, account }))
    }
    return send(request, reply, resetPage({ ...view, token }))
  })

  app.post('/password/reset', { config, schema: { body: ResetForm } }, async (request, reply) => {
    const { password, remove_passkeys: removePasskeys } = request.body
    const token = request.body.token.trim()
    try {
      await takeTurn(request)
      // Checked first: nobody should think up a password for a link that has expired.
      if (token !== '' && !(await passwords.describeReset(token))) return sendOver(request, reply)
      const found = password === '' ? ['Must not be blank'] : findPasswordProblems(password)
      const problems = {
        ...(token === '' && { token: ['Must not be blank'] }),
        ...(found.length > 0 && { password: found }),
      }
      if (Object.keys(problems).length > 0) throw validationFailed(problems)
      await passwords.reset({ token, password, removePasskeys, client: clientOf(request) })
      return notices.redirect(reply, { address: '/console/sign-in', notice: 'password-reset' })
    } catch (error) {
      // The link was used in the meantime.
      if (isAppError(error, 'invalid_reset_token')) return sendOver(request, reply)
      const account = token === '' ? undefined : await passwords.describeReset(token)
      return refuse({ request, reply, error }, ({ problems }) =>
        resetPage({ ...view, token, account, removePasskeys, problems }),
      )
    }
  })
}
