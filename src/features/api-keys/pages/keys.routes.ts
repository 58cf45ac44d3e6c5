import type { FastifyInstance, FastifyRequest } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { idOf } from '../../../platform/http/ids.ts'
import { visitedAddress } from '../../../platform/http/visited-address.ts'
import { atListField, createRefuse } from '../../../platform/pages/components/refusals.ts'
import { reword } from '../../../platform/pages/components/reword.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { ApiKeysService } from '../api-keys.create.ts'
import { isoOf } from '../api-keys.store.ts'
import { defaultLifetime, lifetimes, madeKeyPage, newKeyPage } from './keys.views.ts'

const sentences = {
  too_many_api_keys: 'You have as many API keys as one may have. End one that you no longer need.',
}

const config = { access: 'authenticated', docs: false } as const
const mayEnd = {
  access: [{ permission: 'users.view' }, { permission: 'users.update' }],
  audit: 'api_key_ended',
  docs: false,
} as const

interface NewKeyForm {
  name: string
  permissions: string
  lifetime: string
}

export function addKeyPages(
  app: FastifyInstance,
  { keys, notices, cards, send }: PageKit & { keys: ApiKeysService },
): void {
  const refuse = createRefuse(send)

  app.get('/account/keys/new', { config }, async (request, reply) => send(request, reply, newKeyPage()))

  app.post<{ Body: NewKeyForm }>(
    '/account/keys',
    { config, schema: { body: Type.Object({ name: OrEmpty, permissions: OrEmpty, lifetime: OrEmpty }) } },
    async (request, reply) => {
      try {
        const body = keys.validate(toBody(request.body, keys.clock.nowSeconds()))
        const principal = principalOf(request)
        const made = await keys.create({ principal, body, client: clientOf(request) })
        const allows = made.data.permissions === null ? () => true : keys.compilePermissions(made.data.permissions)
        const shown = {
          key: made.key,
          address: keys.publicUrl ?? visitedAddress(request),
          allows,
          can: (permission: string) => allows(permission) && principal.can(permission),
        }
        const page = madeKeyPage(made, await cards.ofKey(shown, request))
        return send(request, reply.header('cache-control', 'no-store'), page)
      } catch (error) {
        return refuse({ request, reply, error: reword(error, sentences) }, (refusal) =>
          newKeyPage({ ...request.body, refusal: atListField(refusal, 'permissions') }),
        )
      }
    },
  )

  app.post<{ Params: { key: string } }>('/account/keys/:key/end', { config }, async (request, reply) => {
    const { id } = principalOf(request)
    await end(request, { userId: id, key: request.params.key })
    return notices.redirect(reply, { address: '/console/account', notice: 'api-key-ended' })
  })

  app.post<{ Params: { key: string } }>('/users/:id/keys/:key/end', { config: mayEnd }, async (request, reply) => {
    const principal = principalOf(request)
    const actor = { id: principal.id, holder: principal, client: clientOf(request) }
    const { user } = await keys.admin.findTarget({ event: 'api_key_ended', actor }, idOf(request))
    await end(request, { userId: user.id, key: request.params.key })
    return notices.redirect(reply, { address: `/console/users/${user.id}`, notice: 'user-api-key-ended' })
  })

  async function end(request: FastifyRequest, { userId, key }: { userId: number; key: string }): Promise<void> {
    const { id: actorId } = principalOf(request)
    const isEnded = await keys.end({ userId, id: key, actorId, client: clientOf(request) })
    if (!isEnded) throw httpErrors.notFound()
  }
}

/** Converts the form to the body of the API. */
function toBody({ name, permissions, lifetime }: NewKeyForm, now: number) {
  const lines = permissions.split('\n').flatMap((line) => line.trim() || [])
  // Unlimited only if that was chosen: an unknown value gets the default.
  const days = Object.hasOwn(lifetimes, lifetime) ? Number(lifetime) : Number(defaultLifetime)
  return {
    name,
    ...(lines.length > 0 && { permissions: lines }),
    ...(days > 0 && { expires_at: isoOf(now + days * 86_400) }),
  }
}
