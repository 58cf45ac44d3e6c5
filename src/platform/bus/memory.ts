/** The bus of a single process. Values are serialised here too, so that it behaves like the other buses. */
import { type BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import { type Bus, encode } from './bus.ts'
import { createTopics } from './topics.ts'

export interface MemoryBusOptions {
  log: Log
  /** Connects the threads of a process that have a bus each. Closed with the bus. */
  channel?: BroadcastChannel
}

interface Published {
  topic: string
  text: string
}

export function createMemoryBus({ log, channel }: MemoryBusOptions): Bus {
  const carrier = { listen: async () => {}, unlisten: async () => {}, isUp: () => true }
  const topics = createTopics({ carrier, log })
  const waiting: Published[] = []
  let outbox: Published[] = []
  let isDelivering = false
  let isClosed = false

  /** Values published by a listener are queued, so that every listener sees the same order. */
  function deliverAll(): void {
    if (isDelivering) return
    isDelivering = true
    for (let next = waiting.shift(); next; next = waiting.shift()) topics.deliver(next.topic, next.text)
    isDelivering = false
  }

  /** Values that are published together cross to the other threads as one message. */
  function post(published: Published): void {
    // Runs before what awaits the publication.
    if (outbox.push(published) === 1) queueMicrotask(flush)
  }

  function flush(): void {
    if (outbox.length === 0) return
    channel?.postMessage(outbox)
    outbox = []
  }

  function takeAll(values: readonly Published[]): void {
    for (const value of values) waiting.push(value)
    deliverAll()
  }

  if (channel) {
    channel.onmessage = (event) => takeAll((event as { data: Published[] }).data)
    // Only what listens for clients keeps a thread alive.
    channel.unref()
  }

  /** Values that other threads published before a subscription must not reach it. */
  function takeArrived(): void {
    if (!channel) return
    // Documented for both, but typed for one.
    const port = channel as unknown as MessagePort
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) {
      takeAll(next.message as Published[])
    }
  }

  function requireOpen(): void {
    if (isClosed) throw serviceUnavailable(new Error('the bus is closed'))
  }

  return {
    async publish(topic, value) {
      requireOpen()
      const published: Published = { topic, text: encode(topic, value) }
      if (channel) post(published)
      waiting.push(published)
      deliverAll()
    },
    subscribe(topic, listener) {
      takeArrived()
      return topics.subscribe(topic, listener)
    },
    onGap: topics.onGap,
    isUp: () => !isClosed,
    async close() {
      isClosed = true
      flush()
      channel?.close()
      waiting.length = 0
      topics.close()
    },
  }
}
