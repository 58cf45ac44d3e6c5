/** Records in the audit trail that a route guard refused an administrative request. */
import type { FastifyRequest } from 'fastify'
import { clientOf } from '../../platform/http/client.ts'
import { idOf } from '../../platform/http/ids.ts'
import type { Admin } from './admin.service.ts'

/** For routes with `config.audit` and the user's id in the path. */
export function createForbiddenRecorder({ recordRefusal }: Pick<Admin, 'recordRefusal'>) {
  return async (request: FastifyRequest): Promise<void> => {
    const { audit: event } = request.routeOptions.config
    const { principal } = request
    if (!event || !principal) return
    const actor = { id: principal.id, holder: principal, client: clientOf(request) }
    await recordRefusal({ event, actor, userId: idOf(request) ?? null })
  }
}
