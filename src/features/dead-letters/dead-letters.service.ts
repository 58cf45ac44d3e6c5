import { createDeadLetterStore, type DeadLetter, type IdRange } from '../../platform/changes/dead-letters.store.ts'
import type { Statement } from '../../platform/database/database.ts'
import type { Client } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'

export interface Actor {
  id: number
  client: Client
}

type Event = 'dead_letter_retried' | 'dead_letter_discarded'

export function createDeadLetters({ db, clock, audit, metrics }: Infrastructure) {
  const store = createDeadLetterStore(db)
  metrics?.addGauge({
    name: 'dead_letters',
    help: 'Changes that durable listeners have given up, and undeliverable mail, up to 10,000.',
    label: 'listener',
    aggregator: 'max',
    read: store.count,
  })
  metrics?.addGauge({
    name: 'dead_letter_oldest_age_seconds',
    help: 'Age of the oldest dead letter. 0 if there is none.',
    aggregator: 'max',
    async read() {
      const oldest = await store.oldest()
      return oldest === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(oldest)) / 1000)
    },
  })

  function entry(event: Event, { id, client }: Actor, changed: Record<string, unknown>): Statement {
    const changes = Object.fromEntries(
      Object.entries(changed).map(([name, value]) => [name, { from: value, to: value }]),
    )
    return audit.entry({ event, outcome: 'success', userId: null, actorId: id, changes, client })
  }

  async function settle(event: Event, change: Statement, { id, actor }: { id: number; actor: Actor }): Promise<void> {
    const [rows] = await db.write(change, entry(event, actor, { dead_letter: id }))
    if (!rows?.length) throw httpErrors.notFound()
    audit.count(event, 'success')
  }

  /** In batches, so that no other write waits long. Dead letters that are added meanwhile are left alone. */
  async function settleAll(
    event: Event,
    actor: Actor,
    settleSome: (range: IdRange) => Promise<number[]>,
  ): Promise<void> {
    const [newest] = await store.list({ before: Number.MAX_SAFE_INTEGER, limit: 1 })
    if (!newest) return
    let count = 0
    // Never back to those before: they may have failed again, and would be retried forever.
    for (let after: number | undefined = 0; after !== undefined; ) {
      const ids = await settleSome({ after, upTo: newest.id })
      count += ids.length
      after = ids.at(-1)
    }
    if (count === 0) return
    await db.write(entry(event, actor, { dead_letters: count }))
    audit.count(event, 'success')
  }

  const required = (id: number | undefined): number => {
    if (id === undefined) throw httpErrors.notFound()
    return id
  }

  return {
    list: store.list,
    retry: (id: number | undefined, actor: Actor) =>
      settle('dead_letter_retried', store.requestRetry(required(id), clock.nowSeconds()), { id: required(id), actor }),
    discard: (id: number | undefined, actor: Actor) =>
      settle('dead_letter_discarded', store.discard(required(id)), { id: required(id), actor }),
    retryAll: (actor: Actor) =>
      settleAll('dead_letter_retried', actor, (range) => store.requestRetries(range, clock.nowSeconds())),
    discardAll: (actor: Actor) => settleAll('dead_letter_discarded', actor, store.discardSome),
  }
}

export type DeadLetters = ReturnType<typeof createDeadLetters>

export function toResource({ retry_at, ...letter }: DeadLetter) {
  return { ...letter, retrying: retry_at !== null }
}
