/** Domain events within this process. */
import { withTimeout } from '../../core/timeout.ts'
import type { Change } from '../changes/change.ts'
import type { Log } from '../log/logger.ts'

/** A named event with the type of its payload. Features declare the events they emit. */
export interface EventType<out Payload = unknown> {
  readonly name: string
  /** Never set; carries the type. */
  readonly payload?: Payload
}

export function defineEvent<Payload>(name: string): EventType<Payload> {
  return { name }
}

export interface Events {
  /** Returns a function that removes the listener. */
  on<Payload>(event: EventType<Payload>, listener: (payload: Payload) => unknown): () => void
  /**
   * Runs all listeners concurrently and resolves when they are done. A listener that fails, or takes longer than a second,
   * is logged; it affects neither the others nor the emitter.
   */
  emit<Payload>(event: EventType<Payload>, payload: Payload): Promise<void>
}

/** A listener as features declare it. */
export interface EventListener {
  readonly event: EventType
  readonly durable: string | undefined
  /** Undefined: unlimited. */
  readonly attempts: number | undefined
  readonly listener: (payload: never) => unknown
}

export interface ListenOptions {
  /**
   * The name under which its progress is stored. The listener gets every change of the type that is committed after its
   * first start, in order and at least once, on one node at a time; what fails is repeated. Listeners for several types may
   * share a name, and then also their order.
   */
  durable: string
  /**
   * How often it is called for a change. What still fails then becomes a dead letter, and the listener goes on. Unlimited by
   * default. Listeners of one name may have different limits.
   */
  attempts?: number
}

/**
 * Declares a listener: `listeners: (orders) => [on(productCreated, orders.productIsNew)]`. A durable one is for a type of
 * the change log: `on('product.deleted', { durable: 'orders' }, orders.productIsGone)`.
 */
export function on<Payload>(event: EventType<Payload>, listener: (payload: Payload) => unknown): EventListener
export function on<Data = unknown>(
  type: string,
  options: ListenOptions,
  listener: (change: Change<Data>) => unknown,
): EventListener
export function on(
  event: EventType | string,
  ...rest: [listener: (payload: never) => unknown] | [options: ListenOptions, listener: (change: never) => unknown]
): EventListener {
  const [options, listener] = rest.length === 2 ? rest : [undefined, rest[0]]
  return {
    event: typeof event === 'string' ? { name: event } : event,
    durable: options?.durable,
    attempts: options?.attempts,
    listener,
  }
}

const maxListenerMs = 1000

export function createEvents({ log }: { log: Log }): Events {
  type Listener = (payload: unknown) => unknown
  const listeners = new Map<string, Set<Listener>>()

  async function notify(name: string, listener: Listener, payload: unknown) {
    try {
      const result = listener(payload)
      if (result instanceof Promise) await withTimeout(result, maxListenerMs)
    } catch (error) {
      log.error({ err: error, event: name }, 'a listener failed')
    }
  }

  return {
    on({ name }, listener) {
      // Wrapped, so that a function can be added twice and removed once.
      const own: Listener = (payload) => listener(payload as never)
      const all = listeners.get(name) ?? new Set()
      listeners.set(name, all.add(own))
      return () => void all.delete(own)
    },
    async emit({ name }, payload) {
      const notified = [...(listeners.get(name) ?? [])]
      if (notified.length > 0) await Promise.all(notified.map((listener) => notify(name, listener, payload)))
    },
  }
}
