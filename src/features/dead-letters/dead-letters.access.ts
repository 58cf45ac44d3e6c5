import type { RefusedAct } from '../../platform/access/route-guards.ts'
import type { AuditEvent } from '../../platform/audit/audit.ts'

export const mayView = { permission: 'dead_letters.view' } as const
export const mayRetry = { permission: 'dead_letters.update' } as const
export const mayDiscard = { permission: 'dead_letters.delete' } as const

export const refusedAs = (event: AuditEvent): RefusedAct => ({ event, entity: 'dead_letter' })
