import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { atFields, createRefuse } from '../../../platform/pages/components/refusals.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { placeOf, withNext } from '../../../platform/pages/next-page.ts'
import { type BodyValidator, compileBody, OrEmpty, requireValid } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { UsablePasskeys } from '../passkeys.create.ts'
import { passkeyErrors } from '../passkeys.errors.ts'
import { AuthenticationResponse, Name, RegistrationResponse } from '../passkeys.schema.ts'
import { addPage, createPage, removePage } from './passkeys.views.ts'

export type PasskeyPagesDeps = PageKit & { passkeys: UsablePasskeys }

const config = { access: 'authenticated', docs: false } as const
const account = '/console/account'
const validateName = compileBody(Type.Object({ name: Name }))
const validateRegistration = compileBody(RegistrationResponse)
const validateAuthentication = compileBody(AuthenticationResponse)

export function addPasskeyPages(app: FastifyInstance, deps: PasskeyPagesDeps): void {
  addAddPages(app, deps)
  addRemovePages(app, deps)
  addUserPages(app, deps)
  addSignIn(app, deps)
}

function addAddPages(app: FastifyInstance, { passkeys, send, notices }: PasskeyPagesDeps): void {
  const { party, own, limiters } = passkeys
  const { id: host } = party
  const refuse = createRefuse(send)

  app.get('/account/passkeys/add', { config }, (request, reply) => send(request, reply, addPage({ host })))

  app.post(
    '/account/passkeys/add',
    { config, schema: { body: Type.Object({ name: OrEmpty, password: OrEmpty }) } },
    async (request, reply) => {
      const { name, password } = request.body
      try {
        await limiters.own.take(`user ${principalOf(request).id}`)
        // Validated first, so that a refused name does not cost an attempt.
        requireValid(validateName, { name })
        const options = await own.createOptions({ ...actorOf(request), password })
        return send(request, reply, createPage({ host, name, options }))
      } catch (error) {
        return refuse({ request, reply, error }, (refusal) =>
          addPage({ host, name, refusal: atFields(refusal, { password: 'password' }) }),
        )
      }
    },
  )

  app.post(
    '/account/passkeys',
    { config, schema: { body: Type.Object({ name: OrEmpty, response: OrEmpty }) } },
    async (request, reply) => {
      const { name } = request.body
      try {
        await limiters.own.take(`user ${principalOf(request).id}`)
        requireValid(validateName, { name })
        const response = readResponse(validateRegistration, request.body.response)
        if (!response) throw passkeyErrors.invalidPasskey()
        await own.add({ ...actorOf(request), name, response })
      } catch (error) {
        const isInvalid = isAppError(error, passkeyErrors.invalidPasskey().code)
        const message = 'That took too long, or the passkey is not one for this service. Begin again.'
        return refuse({ request, reply, error }, (refusal) =>
          addPage({ host, name, refusal: isInvalid ? { problems: { message, fields: {} } } : refusal }),
        )
      }
      return notices.redirect(reply, { address: account, notice: 'passkey-added' })
    },
  )
}

function addRemovePages(app: FastifyInstance, { passkeys, send, notices }: PasskeyPagesDeps): void {
  const { own, limiters } = passkeys
  const refuse = createRefuse(send)

  async function find(request: FastifyRequest, id: string) {
    const passkey = await own.find(principalOf(request).id, id)
    if (!passkey) throw httpErrors.notFound()
    return passkey
  }

  app.get<{ Params: { id: string } }>('/account/passkeys/:id/remove', { config }, async (request, reply) =>
    send(request, reply, removePage({ passkey: await find(request, request.params.id) })),
  )

  app.post<{ Params: { id: string }; Body: { password: string } }>(
    '/account/passkeys/:id/remove',
    { config, schema: { body: Type.Object({ password: OrEmpty }) } },
    async (request, reply) => {
      const passkey = await find(request, request.params.id)
      try {
        await limiters.own.take(`user ${principalOf(request).id}`)
        await own.remove({ ...actorOf(request), id: passkey.id, password: request.body.password })
      } catch (error) {
        return refuse({ request, reply, error }, (refusal) =>
          removePage({ passkey, refusal: atFields(refusal, { password: 'password' }) }),
        )
      }
      return notices.redirect(reply, { address: account, notice: 'passkey-removed' })
    },
  )
}

/** For administrators. */
function addUserPages(app: FastifyInstance, { passkeys, notices }: PasskeyPagesDeps): void {
  app.post<{ Params: { passkey: string } }>(
    '/users/:id/passkeys/:passkey/remove',
    {
      config: {
        access: [{ permission: 'users.view' }, { permission: 'users.update' }],
        audit: 'passkey_removed',
        docs: false,
      },
    },
    async (request, reply) => {
      const { principal, client } = actorOf(request)
      const actor = { id: principal.id, holder: principal, client }
      const userId = idOf(request)
      await passkeys.administration.remove({ actor, userId, id: request.params.passkey })
      return notices.redirect(reply, { address: `/console/users/${userId}`, notice: 'user-passkey-removed' })
    },
  )
}

function addSignIn(app: FastifyInstance, { passkeys, cookies, notices }: PasskeyPagesDeps): void {
  const { login, limiters, signInBrowser } = passkeys

  app.post(
    '/sign-in/passkey',
    {
      config: { access: 'public', docs: false },
      schema: { body: Type.Object({ response: OrEmpty, next: OrEmpty }) },
    },
    async (request, reply) => {
      const next = placeOf(request.body.next)
      const refuse = (notice: string) =>
        notices.redirect(reply, { address: withNext('/console/sign-in', next), notice })
      await limiters.login.take(addressOf(request))
      const response = readResponse(validateAuthentication, request.body.response)
      if (!response) return refuse('passkey-refused')
      try {
        const deviceToken = cookies.device(request)
        const signedIn = await login.logIn({ response, deviceToken, client: clientOf(request) })
        await signInBrowser({ request, reply, cookies, signedIn })
      } catch (error) {
        if (isAppError(error, 'invalid_credentials')) return refuse('passkey-refused')
        if (isAppError(error, 'email_not_verified')) return refuse('passkey-unverified')
        throw error
      }
      return reply.redirect(next, 303)
    },
  )
}

function actorOf(request: FastifyRequest) {
  return { principal: principalOf(request), client: clientOf(request) }
}

/** The script sends JSON in a field of its form. Returns undefined if it is not a response of an authenticator. */
function readResponse<Response>(validate: BodyValidator<Response>, text: string): Response | undefined {
  try {
    const outcome = validate(Object(JSON.parse(text)))
    return 'value' in outcome ? outcome.value : undefined
  } catch {
    return undefined
  }
}
