/** Signs out one device or all. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { clientOf } from '../../../platform/http/client.ts'
import { httpErrors } from '../../../platform/http/http-errors.ts'
import type { ConsoleParts } from '../console.service.ts'

const config = { access: 'authenticated', docs: false } as const

export function addDevicePages(app: FastifyInstance, { auth, cookies, notices }: ConsoleParts): void {
  const { sessions } = auth
  app.post<{ Params: { id: string } }>('/account/devices/:id/sign-out', { config }, async (request, reply) => {
    const { id } = request.params
    const principal = principalOf(request)
    const isEnded = /^[\w-]{1,64}$/.test(id) && (await sessions.end({ principal, id, client: clientOf(request) }))
    if (!isEnded) throw httpErrors.notFound()
    if (id !== principal.session) {
      return notices.redirect(reply, { address: '/console/account', notice: 'device-signed-out' })
    }
    cookies.clearSession(reply)
    return notices.redirect(reply, { address: '/console/sign-in', notice: 'signed-out' })
  })

  app.post('/account/sign-out-everywhere', { config }, async (request, reply) => {
    await sessions.logOut({
      principal: principalOf(request),
      isEverywhere: true,
      deviceToken: cookies.device(request),
      client: clientOf(request),
    })
    cookies.clearSession(reply)
    return notices.redirect(reply, { address: '/console/sign-in', notice: 'signed-out-everywhere' })
  })
}
