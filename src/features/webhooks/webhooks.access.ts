/** The permissions of webhooks, and the requirements made from them. */
import type { RefusedAct } from '../../platform/access/route-guards.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'

export const mayView = { permission: 'webhooks.view' } as const
export const mayCreate = { permission: 'webhooks.create' } as const
export const mayUpdate = { permission: 'webhooks.update' } as const
export const mayDelete = { permission: 'webhooks.delete' } as const

/** How refused requests are recorded, with the id of the webhook in the path. */
export const refusedAs = (event: AuditEvent): RefusedAct => ({ event, entity: 'webhook' })
