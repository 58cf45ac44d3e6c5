/** What has happened, told within this process to whoever wants to know. */
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

export type Listener<Payload> = (payload: Payload) => unknown

export interface Events<Map extends object> {
  /** Returns how to stop listening. */
  on<Name extends keyof Map & string>(name: Name, listener: Listener<Map[Name]>): () => void
  /**
   * Resolves when every listener has ended, all of them running at once. One that fails, or takes longer than a second,
   * is logged; it breaks neither the others nor whoever emits.
   */
  emit<Name extends keyof Map & string>(name: Name, payload: Map[Name]): Promise<void>
}

const maxListenerMs = 1000

export function createEvents<Map extends object>({ log }: { log: Log }): Events<Map> {
  const listeners: { [Name in keyof Map]?: Set<Listener<Map[Name]>> } = {}

  async function tell<Name extends keyof Map & string>(name: Name, listener: Listener<Map[Name]>, payload: Map[Name]) {
    try {
      const answer = listener(payload)
      if (answer instanceof Promise) await withTimeout(answer, maxListenerMs)
    } catch (error) {
      log.error({ err: error, event: name }, 'a listener failed')
    }
  }

  return {
    on(name, listener) {
      // A wrapper of its own: the same function may listen twice, and stop once.
      const own: typeof listener = (payload) => listener(payload)
      const all = listeners[name] ?? new Set()
      listeners[name] = all.add(own)
      return () => void all.delete(own)
    },
    async emit(name, payload) {
      const told = [...(listeners[name] ?? [])]
      if (told.length > 0) await Promise.all(told.map((listener) => tell(name, listener, payload)))
    },
  }
}
