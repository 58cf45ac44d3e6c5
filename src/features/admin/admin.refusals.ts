/** Puts into the audit trail who tried what an administrator may do, and was refused before it began. */
import type { FastifyRequest } from 'fastify'
import { clientOf } from '../../platform/http/client.ts'
import { idOf } from '../../platform/http/ids.ts'
import type { Admin } from './admin.service.ts'

/** For routes whose configuration names an event and whose path has the user's id. */
export function createForbiddenRecorder({ recordRefusal }: Pick<Admin, 'recordRefusal'>) {
  return async (request: FastifyRequest): Promise<void> => {
    const { audit: event } = request.routeOptions.config
    const { principal } = request
    if (!event || !principal) return
    const actor = { id: principal.id, holder: principal, client: clientOf(request) }
    await recordRefusal({ event, actor, userId: idOf(request) ?? null })
  }
}
