/** Those who listen to one topic on this node. One that fails is logged, and the others are told all the same. */
import type { Log } from '../log/logger.ts'
import type { Listener } from './bus.ts'

export class Listeners {
  readonly #topic: string
  readonly #log: Log
  /** Objects, so that the same function may listen twice. */
  readonly #all = new Set<{ listener: Listener }>()

  constructor(topic: string, log: Log) {
    this.#topic = topic
    this.#log = log
  }

  get size(): number {
    return this.#all.size
  }

  /** Returns how to remove it, which in turn returns whether it was still there. */
  add(listener: Listener): () => boolean {
    const own = { listener }
    this.#all.add(own)
    return () => this.#all.delete(own)
  }

  tell(value: unknown): void {
    // A listener may end others, or begin new ones, which get what comes next.
    for (const each of [...this.#all]) if (this.#all.has(each)) this.#tellOne(each.listener, value)
  }

  clear(): void {
    this.#all.clear()
  }

  #tellOne(listener: Listener, value: unknown): void {
    const report = (error: unknown) => this.#log.error({ err: error, topic: this.#topic }, 'a subscriber failed')
    try {
      // The type asks for nothing, but an async function passes for it.
      const answer: unknown = listener(value)
      if (answer instanceof Promise) answer.catch(report)
    } catch (error) {
      report(error)
    }
  }
}
