/** The listeners of one topic on this node. A failing listener is logged and does not affect the others. */
import type { Log } from '../log/logger.ts'
import type { Listener } from './bus.ts'

export class Listeners {
  readonly #topic: string
  readonly #log: Log
  /** Wrapped in objects, so that a function can be added twice. */
  readonly #all = new Set<{ listener: Listener }>()

  constructor(topic: string, log: Log) {
    this.#topic = topic
    this.#log = log
  }

  get size(): number {
    return this.#all.size
  }

  /** Returns a function that removes the listener and returns whether it was still there. */
  add(listener: Listener): () => boolean {
    const own = { listener }
    this.#all.add(own)
    return () => this.#all.delete(own)
  }

  notify(value: unknown): void {
    // A listener may remove others, or add new ones, which get only later values.
    for (const each of [...this.#all]) if (this.#all.has(each)) this.#notifyOne(each.listener, value)
  }

  clear(): void {
    this.#all.clear()
  }

  #notifyOne(listener: Listener, value: unknown): void {
    const report = (error: unknown) => this.#log.error({ err: error, topic: this.#topic }, 'a subscriber failed')
    try {
      // An async function is assignable to a listener that returns void.
      const result: unknown = listener(value)
      if (result instanceof Promise) result.catch(report)
    } catch (error) {
      report(error)
    }
  }
}
