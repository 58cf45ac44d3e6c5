import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAppError } from '../../../core/app-error.ts'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { addressOf, clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import { visitedAddress } from '../../../platform/http/visited-address.ts'
import { passwordHint } from '../../../platform/pages/components/password-hint.ts'
import { createRefuse } from '../../../platform/pages/components/refusals.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { OrEmpty } from '../../../platform/validation/body-validation.ts'
import { Type } from '../../../platform/validation/schema-builder.ts'
import type { SetUpService } from '../set-up.create.ts'
import { linkOver, setUpPath } from '../set-up.service.ts'
import { overPage, setUpPage } from './set-up.views.ts'
import { welcomePage } from './welcome.views.ts'

const open = { access: 'public', docs: false } as const
const forAdministrators = { access: { permission: '*' }, docs: false } as const

const SetUpForm = Type.Object({ token: OrEmpty, email: OrEmpty, name: OrEmpty, password: OrEmpty })

export function addSetUpPages(app: FastifyInstance, parts: PageKit & SetUpService): void {
  const { send, notices, cookies, cards, addSamples } = parts
  const refuse = createRefuse(send)
  const hint = passwordHint(parts.findPasswordProblems)
  const takeTurn = (request: FastifyRequest) => parts.visits.take(addressOf(request))

  app.get<{ Querystring: { token?: unknown } }>('/setup', { config: open }, async (request, reply) => {
    const token = typeof request.query.token === 'string' ? request.query.token : ''
    try {
      await takeTurn(request)
      await parts.requireLink(token)
    } catch (error) {
      if (isOver(error)) return send(request, reply, overPage(), 410)
      throw error
    }
    return send(request, reply, setUpPage({ token, hint }))
  })

  app.post('/setup', { config: open, schema: { body: SetUpForm } }, async (request, reply) => {
    const { token, email, name, password } = request.body
    const client = clientOf(request)
    try {
      await takeTurn(request)
      const user = await parts.makeAdministrator({ token, email, name, password, client })
      const signedIn = await parts.signIn(user, { deviceToken: cookies.device(request), client })
      if (!signedIn) return notices.redirect(reply, { address: '/console/sign-in', notice: 'set-up' })
      await parts.signInBrowser({ request, reply, cookies, signedIn })
      return reply.redirect(`${setUpPath}/done`, 303)
    } catch (error) {
      if (isOver(error)) return send(request, reply, overPage(), 410)
      if (isAppError(error, httpErrors.notFound().code)) throw error
      return refuse({ request, reply, error }, ({ problems }) =>
        setUpPage({ token, hint, values: { email, name }, problems }),
      )
    }
  })

  app.get('/setup/done', { config: forAdministrators }, async (request, reply) => {
    const principal = principalOf(request)
    const welcome = await requireWelcome(request)
    const view = {
      hasSamples: addSamples && welcome.hasSamples,
      address: parts.publicUrl ?? visitedAddress(request),
      settings: await parts.findProductionSettings(),
      cards: await cards.ofWelcome(principal, request),
    }
    return send(request, reply, welcomePage(view))
  })

  if (addSamples) {
    app.post('/setup/samples', { config: forAdministrators }, async (request, reply): Promise<FastifyReply> => {
      await requireWelcome(request)
      await addSamples(principalOf(request).id)
      return notices.redirect(reply, { address: `${setUpPath}/done`, notice: 'samples-added' })
    })
  }

  async function requireWelcome(request: FastifyRequest) {
    const welcome = await parts.findWelcome(principalOf(request).id)
    if (!welcome) throw httpErrors.notFound()
    return welcome
  }
}

function isOver(error: unknown): boolean {
  return isAppError(error, linkOver().code)
}
