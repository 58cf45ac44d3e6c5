/** The token is optional, but an invalid one is refused: a client must not be treated as anonymous by mistake. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type KeyRules, refusalOf } from '../../access/program-keys.ts'
import { type Authenticate, freshMs, requireBearer } from '../../access/route-guards.ts'
import { guarded } from '../../http/http-errors.ts'

export interface IdentificationDeps {
  authenticate: Authenticate
  keys?: KeyRules | undefined
}

export function createIdentification({ authenticate, keys }: IdentificationDeps) {
  async function identify(request: FastifyRequest): Promise<void> {
    const token = requireBearer(request)
    request.principal = await authenticate(token)
    if (!request.principal) throw await refusalOf(token, keys)
  }

  return {
    /** A hook that runs before the body is read. */
    onRequest(request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void {
      if (request.headers.authorization === undefined) {
        next()
        return
      }
      const proceed = (error?: Error) => guarded(request, reply, () => next(error))
      identify(request).then(() => proceed(), proceed)
    },

    /** The session may have been revoked while a slow body was being received. */
    async recheck(request: FastifyRequest): Promise<void> {
      if (performance.now() - request.startedAt >= freshMs) await identify(request)
    },
  }
}
