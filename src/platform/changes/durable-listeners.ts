/** Durable listeners of features: each name is a consumer of the log, with a function per type of change. */
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { EventListener } from '../events/events.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { mailListener } from '../mail/mail-queue.ts'
import type { Change, ChangeRow } from './change.ts'
import { type Consumer, startConsumer } from './consumer.ts'
import { createConsumerStore } from './consumers.store.ts'
import { createDeadLetterStore, failureOf } from './dead-letters.store.ts'
import type { RedeliveryHandlers } from './redelivery.ts'

interface Listener {
  call(change: Change): unknown
  /** Infinity by default. */
  attempts: number
}

/** By name, then by type of change. */
export type DurableListeners = ReadonlyMap<string, ReadonlyMap<string, Listener>>

/** A listener that does not end would hold up all that follows; it is called again instead. */
const maxListenerMs = 60_000

/** Their dead letters are those of others. */
const reservedNames: readonly string[] = [mailListener]

/** Throws a FatalError if a listener can never be called, or clashes with another. */
export function collectDurableListeners(
  listeners: readonly { feature: string; listener: EventListener }[],
  types: readonly string[],
): DurableListeners {
  const owners = new Map<string, string>()
  const collected = new Map<string, Map<string, Listener>>()
  for (const { feature, listener: each } of listeners) {
    const { durable: name, event } = each
    if (name === undefined) continue
    const fail = (reason: string) =>
      new FatalError(`feature ${feature}: the durable listener "${name}" ${reason}`, exitCodes.configuration)
    if (reservedNames.includes(name)) throw fail('has a name that is reserved')
    const { attempts = Number.POSITIVE_INFINITY } = each
    if (!(attempts >= 1)) throw fail('has less than one attempt')
    if (!types.includes(event.name)) throw fail(`is for "${event.name}", which no feature logs`)
    if ((owners.get(name) ?? feature) !== feature) throw fail(`has the name of one of feature ${owners.get(name)}`)
    const own = collected.get(name) ?? new Map<string, Listener>()
    if (own.has(event.name)) throw fail(`is declared twice for "${event.name}"`)
    owners.set(name, feature)
    collected.set(name, own.set(event.name, { call: each.listener as Listener['call'], attempts }))
  }
  return collected
}

export function startDurableListeners(
  infrastructure: Infrastructure,
  listeners: DurableListeners,
): { redelivery: RedeliveryHandlers; close(): Promise<void> } {
  if (listeners.size === 0) return { redelivery: new Map(), close: async () => {} }
  const { db, clock, log, random, metrics, changes } = infrastructure
  const store = createConsumerStore(db)
  const holder = random.id()
  const deadLetters = createDeadLetterStore(db)
  const countFailure = metrics?.addCounter({
    name: 'durable_listener_failures_total',
    help: 'Failed calls of durable listeners, including those of dead letters.',
    label: { name: 'listener', values: [...listeners.keys()] },
  })

  async function handle(own: ReadonlyMap<string, Listener>, row: ChangeRow): Promise<void> {
    const listener = own.get(row.type)
    const change = listener && changes.topics.present(row)
    if (!change) return
    const cursor = changes.cursors.issue(row.id)
    await withTimeout(Promise.resolve(listener.call({ cursor, ...change })), maxListenerMs)
  }

  const countDeadLetter = metrics?.addCounter({
    name: 'dead_letters_total',
    help: 'Changes that durable listeners have given up after their last attempt.',
    label: { name: 'listener', values: [...listeners.keys()] },
  })
  const consumers = new Map<string, Consumer>()
  for (const [name, own] of listeners) {
    const onFailure = () => countFailure?.(name)
    consumers.set(
      name,
      startConsumer({
        name,
        holder,
        changes,
        store,
        clock,
        log,
        handle: (row) => handle(own, row),
        onFailure,
        deadLetterOf(row, error, attempts) {
          if (attempts < (own.get(row.type)?.attempts ?? Number.POSITIVE_INFINITY)) return undefined
          countDeadLetter?.(name)
          const { id: changeId, type, entity_id: entityId } = row
          return deadLetters.insert(
            { listener: name, changeId, type, entityId, entry: row, attempts },
            failureOf(error, clock.now()),
          )
        },
      }),
    )
  }
  metrics?.addGauge({
    name: 'durable_listener_lag_seconds',
    help: 'The age of the oldest change that a durable listener has not handled, on the node that works for it.',
    label: 'listener',
    aggregator: 'max',
    async read() {
      const lags = await Promise.all([...consumers].map(async ([name, each]) => [name, await each.lagSeconds()]))
      return Object.fromEntries(lags)
    },
  })
  const redeliver = (name: string, own: ReadonlyMap<string, Listener>) => (entry: unknown) =>
    handle(own, entry as ChangeRow).catch((error: unknown) => {
      countFailure?.(name)
      throw error
    })
  return {
    redelivery: new Map([...listeners].map(([name, own]) => [name, redeliver(name, own)])),
    async close() {
      await Promise.all([...consumers.values()].map((each) => each.close()))
    },
  }
}
