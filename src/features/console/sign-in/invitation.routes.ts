/** The page that an invitation leads to: the user sets a password, then signs in. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { passwordHint } from '../../../platform/pages/components/password-hint.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import { OrEmpty, validationFailed } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'
import { invitationOverPage, invitationPage } from './invitation.views.ts'

const config = { access: 'public', docs: false } as const

export function addInvitationPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { notices, send } = parts
  const { passwords, mailedTokens, limiters, findPasswordProblems } = parts.auth
  const refuse = createRefuse(send)
  const hint = passwordHint(findPasswordProblems)
  const takeTurn = (request: FastifyRequest) => limiters.reset.take(addressOf(request))
  const find = (token: string) => mailedTokens.find(token, 'invitation')
  const sendOver = (request: FastifyRequest, reply: FastifyReply) => send(request, reply, invitationOverPage(), 410)

  app.get<{ Querystring: { token?: unknown } }>('/invitation', { config }, async (request, reply) => {
    const token = typeof request.query.token === 'string' ? request.query.token.trim() : ''
    await takeTurn(request)
    const found = await find(token)
    return found ? send(request, reply, invitationPage({ hint, token, email: found.email })) : sendOver(request, reply)
  })

  app.post(
    '/invitation',
    { config, schema: { body: Type.Object({ token: OrEmpty, password: OrEmpty }) } },
    async (request, reply) => {
      const { password } = request.body
      const token = request.body.token.trim()
      await takeTurn(request)
      const found = await find(token)
      if (!found) return sendOver(request, reply)
      try {
        const problems = password === '' ? ['Must not be blank'] : findPasswordProblems(password)
        if (problems.length > 0) throw validationFailed({ password: problems })
        await passwords.reset({ token, password, client: clientOf(request) })
        return notices.redirect(reply, { address: '/console/sign-in', notice: 'invitation-accepted' })
      } catch (error) {
        // The link was used in the meantime.
        if (isAppError(error, 'invalid_reset_token')) return sendOver(request, reply)
        const view = { hint, token, email: found.email }
        return refuse({ request, reply, error }, ({ problems }) => invitationPage({ ...view, problems }))
      }
    },
  )
}
