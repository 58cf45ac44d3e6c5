/**
 * Who listens on this node, and what must be subscribed on the carrier for their sake: one subscription for each topic,
 * however many listen. Every twin has one of these.
 */
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import type { Listener, Unsubscribe } from './bus.ts'
import { Listeners } from './listeners.ts'

/** What carries values between nodes. Both are called for one topic in turn, never twice at once. */
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

  /** Brings the carrier to what the listeners need. Whoever comes while it is at it waits for the same work. */
  function settle(name: string, topic: Topic): Promise<void> {
    topic.work ??= settleNow(name, topic).finally(() => {
      topic.work = undefined
    })
    return topic.work
  }

  async function settleNow(name: string, topic: Topic): Promise<void> {
    // The last listener may leave, or the first one come, while the carrier is asked: it is looked at again.
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
      // What cannot be taken off the carrier now, because the connection is away, is when it is back.
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
      log.warn({ err: error, topic: name }, 'something that is no JSON was published and is left out')
      return
    }
    listeners.tell(value)
  }

  return {
    subscribe,
    deliver,

    onGap(listener: () => void): Unsubscribe {
      const remove = gapListeners.add(listener)
      return () => void remove()
    },

    tellGap(): void {
      gapListeners.tell(undefined)
    },

    /** Call when a connection is made that knows nothing of what was subscribed over the old one. */
    forgetWire(): void {
      for (const topic of topics.values()) topic.isSubscribed = false
    },

    /** Rejects where the connection is lost meanwhile. */
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
