/**
 * The topics that this node listens to. Keeps one subscription per topic on the carrier, however many listeners it has.
 * Shared by all bus implementations.
 */
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import type { Listener, Unsubscribe } from './bus.ts'
import { Listeners } from './listeners.ts'

/** Transports values between nodes. Calls for one topic never overlap. */
export interface Carrier {
  listen(topic: string): Promise<unknown>
  unlisten(topic: string): Promise<unknown>
  /** False while values cannot arrive. */
  isUp(): boolean
}

interface Topic {
  listeners: Listeners
  isSubscribed: boolean
  work: Promise<void> | undefined
}

export function createTopics({ carrier, log }: { carrier: Carrier; log: Log }) {
  const topics = new Map<string, Topic>()
  const gapListeners = new Listeners('gap', log)
  let isClosed = false

  /** Subscribes or unsubscribes on the carrier as the listeners require. Concurrent calls share the same work. */
  function settle(name: string, topic: Topic): Promise<void> {
    topic.work ??= settleNow(name, topic).finally(() => {
      topic.work = undefined
    })
    return topic.work
  }

  async function settleNow(name: string, topic: Topic): Promise<void> {
    // Loops, because the last listener may leave, or a first one arrive, during the call to the carrier.
    while (topic.listeners.size > 0 !== topic.isSubscribed) {
      if (topic.isSubscribed) await carrier.unlisten(name)
      else await carrier.listen(name)
      topic.isSubscribed = !topic.isSubscribed
    }
    if (topic.listeners.size === 0) topics.delete(name)
  }

  async function subscribe(name: string, listener: Listener): Promise<Unsubscribe> {
    requireUp()
    const topic = topics.get(name) ?? { listeners: new Listeners(name, log), isSubscribed: false, work: undefined }
    topics.set(name, topic)
    const remove = topic.listeners.add(listener)
    const unsubscribe = () => {
      // If the connection is down, `settleAll` unsubscribes when it is back.
      if (remove() && topic.listeners.size === 0 && !isClosed) settle(name, topic).catch(ignore)
    }
    try {
      await settle(name, topic)
      requireUp()
    } catch (error) {
      unsubscribe()
      throw serviceUnavailable(error)
    }
    return unsubscribe
  }

  function requireUp(): void {
    if (isClosed) throw serviceUnavailable(new Error('the bus is closed'))
    if (!carrier.isUp()) throw serviceUnavailable(new Error('the connection of the bus is away'))
  }

  function deliver(name: string, text: string): void {
    const listeners = topics.get(name)?.listeners
    if (!listeners || listeners.size === 0) return
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      log.warn({ err: error, topic: name }, 'ignored a published message that is no JSON')
      return
    }
    listeners.notify(value)
  }

  return {
    subscribe,
    deliver,

    onGap(listener: () => void): Unsubscribe {
      const remove = gapListeners.add(listener)
      return () => void remove()
    },

    notifyGap(): void {
      gapListeners.notify(undefined)
    },

    /** For a new connection, which has none of the subscriptions of the old one. */
    forgetSubscriptions(): void {
      for (const topic of topics.values()) topic.isSubscribed = false
    },

    /** Rejects if the connection is lost in the meantime. */
    async settleAll(): Promise<void> {
      await Promise.all([...topics].map(([name, topic]) => settle(name, topic)))
    },

    close(): void {
      isClosed = true
      topics.clear()
      gapListeners.clear()
    },
  }
}

export type Topics = ReturnType<typeof createTopics>

const ignore = () => {}
