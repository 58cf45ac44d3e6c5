/** Signing in and out of the console. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import { reword } from '../../../platform/pages/components/reword.ts'
import { placeOf } from '../../../platform/pages/next-page.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts, EndReason, SignedIn } from '../console.service.ts'
import { codePage, signInPage } from './sign-in.views.ts'

const access = 'public'
const config = { access, docs: false } as const
const sentences = { email_not_verified: "Your email isn't verified yet. We sent you a new link." }

export function addSignInPages(app: FastifyInstance, parts: ConsoleParts): void {
  const { auth, cookies, notices, send } = parts
  const { login, sessions, limiters } = auth
  const refuse = createRefuse(send)
  const ways = {
    canReset: auth.passwords.delivery !== 'none',
    canRegister: parts.users.isRegistrationOpen,
    options: parts.signInOptions,
  }

  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    { signedIn, next }: { signedIn: SignedIn; next: string },
  ): Promise<FastifyReply> {
    await auth.signInBrowser({ request, reply, cookies, signedIn })
    return reply.redirect(placeOf(next), 303)
  }

  /** Why the session of the browser's cookie ended. Shown once, because the cookie is deleted. */
  async function takeEndReason(request: FastifyRequest, reply: FastifyReply): Promise<EndReason | undefined> {
    const cookie = cookies.session(request)
    const reason = cookie === undefined ? undefined : await auth.webSessions.findEndReason(cookie)
    if (reason !== undefined) cookies.clearSession(reply)
    return reason
  }

  app.get<{ Querystring: { next?: unknown } }>('/sign-in', { config }, async (request, reply) => {
    if (request.principal) return reply.redirect('/console', 303)
    const endReason = await takeEndReason(request, reply)
    return send(request, reply, signInPage({ next: placeOf(request.query.next), ...ways, endReason }))
  })

  app.post(
    '/sign-in',
    {
      config,
      schema: { body: Type.Object({ email: OrEmpty, password: OrEmpty, next: OrEmpty }) },
    },
    async (request, reply) => {
      const { email, password, next } = request.body
      try {
        await limiters.login.take(addressOf(request))
        const outcome = await login.login({
          email,
          password,
          deviceToken: cookies.device(request),
          client: clientOf(request),
        })
        if (outcome.kind === 'signed_in') return await begin(request, reply, { signedIn: outcome, next })
        return send(request, reply, codePage({ challengeToken: outcome.challengeToken, next: placeOf(next) }))
      } catch (error) {
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
          signInPage({ email, next: placeOf(next), ...ways, refusal }),
        )
      }
    },
  )

  app.post(
    '/sign-in/code',
    { config, schema: { body: Type.Object({ challenge_token: OrEmpty, code: OrEmpty, next: OrEmpty }) } },
    async (request, reply) => {
      const { challenge_token: challengeToken, code, next } = request.body
      try {
        await limiters.verify.take(addressOf(request))
        const signedIn = await login.verify({
          challengeToken,
          code,
          deviceToken: cookies.device(request),
          client: clientOf(request),
        })
        return await begin(request, reply, { signedIn, next })
      } catch (error) {
        const isOver = isAppError(error, 'invalid_challenge_token')
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
          isOver
            ? signInPage({
                next: placeOf(next),
                ...ways,
                refusal: { problems: { message: 'That took too long. Sign in again.', fields: {} } },
              })
            : codePage({ challengeToken, next: placeOf(next), refusal }),
        )
      }
    },
  )

  /** Ends the token family too, not only the cookie. */
  app.post('/sign-out', { config: { access: 'authenticated', docs: false } }, async (request, reply) => {
    const principal = principalOf(request)
    await sessions.end({ principal, id: principal.session, client: clientOf(request) })
    cookies.clearSession(reply)
    return notices.redirect(reply, { address: '/console/sign-in', notice: 'signed-out' })
  })
}
