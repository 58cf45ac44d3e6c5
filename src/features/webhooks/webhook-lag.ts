/** How far the endpoints are behind, as any node can tell: the node that delivers knows it to the second. */
import type { Clock } from '../../core/clock.ts'
import type { ChangeStore } from '../../platform/changes/changes.store.ts'
import { wantsType } from './webhook.ts'
import { typesOf, type WebhookStore } from './webhooks.store.ts'

export interface WebhookLagDeps {
  store: Pick<WebhookStore, 'listOn'>
  changes: Pick<ChangeStore, 'readHeads'>
  clock: Clock
}

/** Positions are saved with each message, but only now and then where an endpoint wants nothing of what has changed. */
const maxHeads = 200

/** The age of the oldest change that an endpoint wants and has not got, in seconds. Undefined if none is on. */
export async function findWebhookLag({ store, changes, clock }: WebhookLagDeps): Promise<number | undefined> {
  const webhooks = (await store.listOn()).map((row) => ({ position: row.position, types: typesOf(row) }))
  if (webhooks.length === 0) return undefined
  const after = Math.min(...webhooks.map(({ position }) => position))
  const heads = await changes.readHeads({ after, limit: maxHeads })
  const oldest = heads.find(({ id, type }) =>
    webhooks.some(({ position, types }) => id > position && wantsType(types, type)),
  )
  // If there are more than were read, what it wants is no older than the last of these.
  const behind = oldest ?? (heads.length === maxHeads ? heads.at(-1) : undefined)
  return behind ? Math.max(0, (clock.now() - Date.parse(behind.at)) / 1000) : 0
}
