/** What happens in this process, told to those who listen. */
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

/** An event by its name, which carries the type of its payload. Features declare those that they emit. */
export interface EventType<out Payload = unknown> {
  readonly name: string
  /** Never there: it carries the type. */
  readonly payload?: Payload
}

export function defineEvent<Payload>(name: string): EventType<Payload> {
  return { name }
}

export interface Events {
  /** Returns how to stop listening. */
  on<Payload>(event: EventType<Payload>, listener: (payload: Payload) => unknown): () => void
  /**
   * Resolves when every listener has ended, all of them running at once. One that fails, or takes longer than a second,
   * is logged; it breaks neither the others nor the emitter.
   */
  emit<Payload>(event: EventType<Payload>, payload: Payload): Promise<void>
}

/** A listener as features declare it. */
export interface EventListener {
  readonly event: EventType
  readonly durable: string | undefined
  readonly listener: (payload: never) => unknown
}

export interface ListenOptions {
  /**
   * The name under which its progress is kept, for listeners that must miss nothing. Reserved: the change log that it
   * reads from is not there yet, and a feature that asks for it stops the start.
   */
  durable: string
}

/** Declares a listener: `listeners: (orders) => [on(productDeleted, orders.productIsGone)]`. */
export function on<Payload>(event: EventType<Payload>, listener: (payload: Payload) => unknown): EventListener
export function on<Payload>(
  event: EventType<Payload>,
  options: ListenOptions,
  listener: (payload: Payload) => unknown,
): EventListener
export function on<Payload>(
  event: EventType<Payload>,
  ...rest: [listener: (payload: Payload) => unknown] | [options: ListenOptions, listener: (payload: Payload) => unknown]
): EventListener {
  const [options, listener] = rest.length === 2 ? rest : [undefined, rest[0]]
  return { event, durable: options?.durable, listener }
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
      // A wrapper of its own: the same function may listen twice, and stop once.
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
