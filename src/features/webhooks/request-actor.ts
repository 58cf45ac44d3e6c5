import type { FastifyRequest } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { clientOf } from '../../platform/http/client.ts'
import type { Actor } from './webhooks.service.ts'

export function actorOf(request: FastifyRequest): Actor {
  const principal = principalOf(request)
  return { id: principal.id, can: (permission) => principal.can(permission), client: clientOf(request) }
}
