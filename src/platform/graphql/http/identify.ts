/** A token is optional here. One that is given must be good: nobody is taken for anonymous by mistake. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticate, freshMs, requireBearer } from '../../access/route-guards.ts'
import { guarded, httpErrors } from '../../http/http-errors.ts'

export function createIdentification(authenticate: Authenticate) {
  async function identify(request: FastifyRequest): Promise<void> {
    request.principal = await authenticate(requireBearer(request))
    if (!request.principal) throw httpErrors.invalidToken()
  }

  return {
    /** An onRequest hook: before the body is read. */
    onRequest(request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void {
      if (request.headers.authorization === undefined) {
        next()
        return
      }
      const go = (error?: Error) => guarded(request, reply, () => next(error))
      identify(request).then(() => go(), go)
    },

    /** Whoever sent a body slowly may have lost the session meanwhile. */
    async again(request: FastifyRequest): Promise<void> {
      if (performance.now() - request.startedAt >= freshMs) await identify(request)
    },
  }
}
