/** The bus of a single process. Values are serialised here too, so that it behaves like the other buses. */
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export function createMemoryBus({ log }: { log: Log }): Bus {
  const carrier = { listen: async () => {}, unlisten: async () => {}, isUp: () => true }
  const topics = createTopics({ carrier, log })
  const waiting: { topic: string; text: string }[] = []
  let isDelivering = false
  let isClosed = false

  /** Values published by a listener are queued, so that every listener sees the same order. */
  function deliverAll(): void {
    if (isDelivering) return
    isDelivering = true
    for (let next = waiting.shift(); next; next = waiting.shift()) topics.deliver(next.topic, next.text)
    isDelivering = false
  }

  function requireOpen(): void {
    if (isClosed) throw serviceUnavailable(new Error('the bus is closed'))
  }

  return {
    async publish(topic, value) {
      requireOpen()
      waiting.push({ topic, text: encode(topic, value) })
      deliverAll()
    },
    subscribe: topics.subscribe,
    onGap: topics.onGap,
    isUp: () => !isClosed,
    async close() {
      isClosed = true
      waiting.length = 0
      topics.close()
    },
  }
}
