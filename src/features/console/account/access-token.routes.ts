/**
 * A short-lived access token of the browser's session, for /docs and /graphiql. Their scripts read the form of this page,
 * which has the `_token`, and submit it; without scripts, the next page shows the token.
 */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import type { ConsoleParts } from '../console.service.ts'
import { accessTokenPage, issuedTokenPage } from './access-token.views.ts'

const config = { access: 'authenticated', docs: false } as const

export function addAccessTokenPages(app: FastifyInstance, { auth, send }: ConsoleParts): void {
  const { browserAccess, limiters } = auth

  app.get('/access-token', { config }, (request, reply) => send(request, reply, accessTokenPage()))

  app.post('/access-token', { config }, async (request, reply) => {
    const principal = principalOf(request)
    await limiters.browserAccess.take(`user ${principal.id}`)
    const issued = await browserAccess.issue({ principal, client: clientOf(request) })
    if (request.headers.accept === 'application/json') return reply.send(issued)
    return send(request, reply, issuedTokenPage(issued))
  })
}
