/** The account page: the user's own name and password. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { passwordHint } from '../../../platform/pages/components/password-hint.ts'
import { atFields, createRefuse } from '../../../platform/pages/components/refusals.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { OrEmpty, validationFailed } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ConsoleParts } from '../console.service.ts'
import { type AccountView, accountPage } from './account.views.ts'

const config = { access: 'authenticated', docs: false } as const
const PasswordForm = Type.Object({
  current_password: OrEmpty,
  new_password: OrEmpty,
  remove_passkeys: Type.Optional(Type.Boolean({ default: false })),
})

/** Shows the account again, with what was refused. */
export type ShowAccount = (request: FastifyRequest, refused?: Partial<AccountView>) => Promise<Page>

export function addAccountPages(app: FastifyInstance, parts: ConsoleParts): ShowAccount {
  const { users, auth, twoFactor, profile, cookies, notices, cards, send } = parts
  const { passwords, sessions, limiters } = auth
  const refuse = createRefuse(send)
  const hint = passwordHint(users.findPasswordProblems)

  const show: ShowAccount = async (request, refused = {}) => {
    const principal = principalOf(request)
    const [status, devices, endedDevices, account, passkeys, others] = await Promise.all([
      twoFactor.status(principal.id),
      sessions.list(principal),
      sessions.listEnded(principal),
      auth.accounts.findById(principal.id),
      auth.credentials.countPasskeys(principal.id),
      cards.ofAccount(principal, request),
    ])
    const isVerified = account?.email_verified_at != null
    return accountPage({
      principal,
      isVerified,
      canMail: profile.canMail,
      twoFactor: status,
      passkeys,
      devices,
      endedDevices,
      cards: others,
      passwordHint: hint,
      ...refused,
    })
  }

  app.get('/account', { config }, async (request, reply) => send(request, reply, await show(request)))

  app.post('/account/profile', { config, schema: { body: Type.Object({ name: OrEmpty }) } }, async (request, reply) => {
    const { id } = principalOf(request)
    try {
      await limiters.confirm.take(`user ${id}`)
      const { name } = users.validateProfile(request.body)
      await users.rename({ id, name, client: clientOf(request) })
      return notices.redirect(reply, { address: '/console/account', notice: 'profile-saved' })
    } catch (error) {
      return refuse({ request, reply, error }, (profileRefusal) =>
        show(request, { name: request.body.name, profileRefusal }),
      )
    }
  })

  app.post('/account/password', { config, schema: { body: PasswordForm } }, async (request, reply) => {
    const principal = principalOf(request)
    const { current_password: current, new_password: next, remove_passkeys: removePasskeys } = request.body
    try {
      await limiters.confirm.take(`user ${principal.id}`)
      // Validated first, so that a refused new password does not cost an attempt.
      const found = next.trim() === '' ? ['Must not be blank'] : users.findPasswordProblems(next)
      if (found.length > 0) throw validationFailed({ new_password: found })
      await passwords.change({
        principal,
        current,
        next,
        removePasskeys,
        deviceToken: cookies.device(request),
        client: clientOf(request),
      })
    } catch (error) {
      return refuse({ request, reply, error }, (refusal) =>
        show(request, { removePasskeys, passwordRefusal: atFields(refusal, { password: 'current_password' }) }),
      )
    }
    cookies.clearSession(reply)
    return notices.redirect(reply, { address: '/console/sign-in', notice: 'password-changed' })
  })

  return show
}
