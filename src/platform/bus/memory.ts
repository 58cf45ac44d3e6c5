/** The bus of a single process. Values are serialised here too, so that it behaves like the other buses. */
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, encode } from './bus.ts'
import { type ChannelParts, openThreadChannel } from './thread-channel.ts'
import { createTopics } from './topics.ts'

export interface MemoryBusOptions {
  log: Log
  /** Connects the threads of a process that have a bus each. */
  threads?: ChannelParts | undefined
}

interface Published {
  topic: string
  text: string
}

export function createMemoryBus({ log, threads }: MemoryBusOptions): Bus {
  const carrier = { listen: async () => {}, unlisten: async () => {}, isUp: () => true }
  const topics = createTopics({ carrier, log })
  const channel = threads && openThreadChannel<Published>(threads, takeAll)
  const waiting: Published[] = []
  let isDelivering = false
  let isClosed = false

  function takeAll(values: readonly Published[]): void {
    for (const value of values) waiting.push(value)
    deliverAll()
  }

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
      const published: Published = { topic, text: encode(topic, value) }
      if (channel) channel.send(published)
      else takeAll([published])
    },
    async subscribe(topic, listener) {
      // Values that other threads published before must not reach it.
      await channel?.catchUp()
      return topics.subscribe(topic, listener)
    },
    onGap: topics.onGap,
    isUp: () => !isClosed,
    async close() {
      isClosed = true
      channel?.close()
      waiting.length = 0
      topics.close()
    },
  }
}
