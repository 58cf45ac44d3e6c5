/** Endpoints and what was sent to them, as the API shows them. */

export interface Webhook {
  id: number
  url: string
  types: string[]
  description: string
  enabled: boolean
  /** Why it is off: it failed for three days, or somebody switched it off. Null while it is on. */
  off_reason: OffReason | null
  off_since: string | null
  /** Consecutive failed attempts. */
  failures: number
  failing_since: string | null
  next_attempt_at: string | null
  created_at: string
  updated_at: string
}

export type OffReason = 'failures' | 'person'

export interface Delivery {
  id: number
  /** The header `webhook-id`: the same in every attempt. */
  message_id: string
  type: string
  status: DeliveryStatus
  attempts: number
  /** Null if there was no answer; `error` then says why. */
  response_status: number | null
  /** The beginning of the answer. */
  response: string
  error: string | null
  duration_ms: number
  created_at: string
  attempted_at: string
}

export const deliveryStatuses = ['delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export interface DeliveryPage {
  /** The id of the last one of the page before. */
  before: number
  limit: number
  /** Undefined: both. */
  status?: DeliveryStatus | undefined
}

/** What one endpoint gets. */
export interface Message {
  id: string
  /** The entry of the change log. Null for a test. */
  changeId: number | null
  type: string
  /** ISO 8601. */
  at: string
  data: unknown
}

/** How an attempt ended. */
export interface Attempt {
  status: DeliveryStatus
  responseStatus: number | null
  response: string
  error: string | null
  durationMs: number
}

export const testType = 'webhook.test'

/** `*`, `product.*` or `product.created`. */
export function wantsType(wanted: readonly string[], type: string): boolean {
  return wanted.some(
    (each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))),
  )
}
