/** Records in the audit trail that a route guard refused an administrative request. */
import type { FastifyRequest } from 'fastify'
import { clientOf } from '../../platform/http/client.ts'
import { idOf } from '../../platform/http/ids.ts'
import type { Admin } from './admin.service.ts'

/** For routes with `config.audit`. */
export function createForbiddenRecorder({ recordRefusal }: Pick<Admin, 'recordRefusal'>) {
  return async (request: FastifyRequest): Promise<void> => {
    const { audit } = request.routeOptions.config
    const { principal } = request
    if (!audit || !principal) return
    const actor = { id: principal.id, holder: principal, client: clientOf(request) }
    const id = idOf(request)
    if (typeof audit === 'string') return recordRefusal({ event: audit, actor, userId: id ?? null })
    const changes = id === undefined ? {} : { changes: { [audit.entity]: { from: id, to: id } } }
    await recordRefusal({ event: audit.event, actor, userId: null, ...changes })
  }
}
