/**
 * Who listens on this node, and what must be subscribed on the carrier for their sake: one subscription for each topic,
 * however many listen. Every twin has one of these.
 */
import { serviceUnavailable } from '../../core/app-error.ts'
import type { Log } from '../log/logger.ts'
import type { Listener, Unsubscribe } from './bus.ts'

/** What carries values between nodes. Both are called for one topic in turn, never twice at once. */
export interface Carrier {
  listen(topic: string): Promise<unknown>
  unlisten(topic: string): Promise<unknown>
  /** False while values cannot arrive. */
  isUp(): boolean
}

interface Topic {
  /** Objects, so that the same function may listen twice. */
  listeners: Set<{ listener: Listener }>
  isSubscribed: boolean
  work: Promise<void> | undefined
}

export function createTopics({ carrier, log }: { carrier: Carrier; log: Log }) {
  const topics = new Map<string, Topic>()
  const gapListeners = new Set<{ listener: () => void }>()
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
    const topic = topics.get(name) ?? { listeners: new Set(), isSubscribed: false, work: undefined }
    topics.set(name, topic)
    const own = { listener }
    topic.listeners.add(own)
    const unsubscribe = () => {
      // What cannot be taken off the carrier now, because the connection is away, is when it is back.
      if (topic.listeners.delete(own) && topic.listeners.size === 0 && !isClosed) settle(name, topic).catch(ignore)
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
    // A listener may end others, or begin new ones, which get what comes next.
    for (const each of [...listeners]) if (listeners.has(each)) tell(each.listener, value, name)
  }

  function tell(listener: Listener, value: unknown, topic: string): void {
    const report = (error: unknown) => log.error({ err: error, topic }, 'a subscriber failed')
    try {
      // The type asks for nothing, but an async function passes for it.
      const answer: unknown = listener(value)
      if (answer instanceof Promise) answer.catch(report)
    } catch (error) {
      report(error)
    }
  }

  return {
    subscribe,
    deliver,

    onGap(listener: () => void): Unsubscribe {
      const own = { listener }
      gapListeners.add(own)
      return () => void gapListeners.delete(own)
    },

    tellGap(): void {
      for (const { listener } of [...gapListeners]) tell(listener, undefined, 'gap')
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
