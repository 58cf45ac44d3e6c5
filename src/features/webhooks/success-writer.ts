/**
 * Records what an endpoint has taken, while the next messages are sent: those that are taken during a commit share the next
 * one.
 */
import { createBatches } from '../../core/batches.ts'
import type { Database } from '../../platform/database/database.ts'
import type { DeliveryStore } from './deliveries.store.ts'
import type { Attempt, Message } from './webhook.ts'
import type { WebhookStore } from './webhooks.store.ts'

export interface SuccessWriterDeps {
  webhookId: number
  db: Database
  store: WebhookStore
  deliveries: DeliveryStore
  /** Of the lease. */
  holder: string
}

export interface Success {
  message: Message
  attempt: Attempt
  at: number
}

/** So many messages may be sent again after a crash. */
const maxUnwritten = 100

export function createSuccessWriter({ webhookId, db, store, deliveries, holder }: SuccessWriterDeps) {
  const write = createBatches({ run: writeAll, maxItems: maxUnwritten, sizeOf: () => 1, maxSize: maxUnwritten })
  let isHeld = true
  let problem: Error | undefined
  let unwritten = 0
  /** Resolves when all so far are written, or could not be. */
  let written: Promise<unknown> = Promise.resolve()

  async function writeAll(successes: readonly Success[]): Promise<boolean[]> {
    const position = successes.at(-1)?.message.changeId as number
    const [advanced = []] = await db.write(
      store.advance(webhookId, position, holder),
      ...successes.map(({ message, attempt, at }) => deliveries.record(webhookId, message, attempt, at)),
    )
    isHeld &&= advanced.length > 0
    unwritten -= successes.length
    return successes.map(() => isHeld)
  }

  /** Waits until all are written. Returns false if the lease is lost, or the endpoint is gone. */
  async function settle(): Promise<boolean> {
    await written
    if (problem) throw problem
    return isHeld
  }

  return {
    /** In the order of the log. Waits only if many are not written yet. Returns false if an earlier one has found the lease lost. */
    async add(success: Success): Promise<boolean> {
      unwritten += 1
      written = write(success).catch((error: Error) => {
        problem = error
      })
      return unwritten < maxUnwritten && !problem ? isHeld : settle()
    },

    settle,
  }
}
