/** Drives the iterator of a subscription element, and tracks its listeners so that all of them are removed. */
import type { Bus, Unsubscribe } from '../../bus/bus.ts'
import type { FairScheduler } from '../execution/fair-scheduler.ts'
import type { Context, Subscription, SubscriptionContext } from '../schema/elements.ts'
import { createAsyncQueue } from './async-queue.ts'

export interface SourceOptions {
  element: Pick<Subscription, 'subscribe'>
  args: Record<string, unknown>
  context: Context
  bus: Bus
  scheduler: FairScheduler
  /** The scheduler queue for deliveries. */
  queueKey(): string
  /** The next value is requested once it resolves. */
  onValue(value: unknown): Promise<void>
  /** The element's iterator has ended, or failed. */
  onEnd(error?: unknown): void
}

export interface Source {
  /** Resolves once the bus subscriptions are active: values published from then on are received. */
  readonly started: Promise<void>
  /** Removes all listeners, even if the element's iterator never returns. */
  close(): void
}

/** A published value that was not delivered yet. */
interface Delivery {
  subscription: { isOver: boolean; listener(value: unknown): void }
  value: unknown
}

export function openSource(options: SourceOptions): Source {
  const { element, args, context, bus, scheduler, queueKey, onValue, onEnd } = options
  const releases = new Set<() => void>()
  const subscribing: Promise<unknown>[] = []
  const deliveries = createDeliveries({ scheduler, queueKey, onFull: fail })
  const ended = new AbortController()
  let isClosed = false

  async function subscribe(topic: string, listener: (value: unknown) => void): Promise<Unsubscribe> {
    const subscription = { listener, isOver: false }
    const pending = bus.subscribe(topic, (value) => deliveries.add({ subscription, value }))
    subscribing.push(pending)
    const unsubscribe = await pending
    const release = () => {
      if (!releases.delete(release)) return
      subscription.isOver = true
      unsubscribe()
    }
    releases.add(release)
    if (isClosed) release()
    return release
  }

  function fail(error: unknown): void {
    if (isClosed) return
    onEnd(error)
    close()
  }

  function values<Value>(topic: string): AsyncIterableIterator<Value> {
    const queue = createAsyncQueue<Value>({
      onReturn() {
        releases.delete(queue.end)
        void unsubscribing.then((unsubscribe) => unsubscribe?.())
      },
    })
    // Immediately, not at the first next(): values published in between must not be missed.
    const unsubscribing = subscribe(topic, (value) => queue.push(value as Value)).catch((error: unknown) => {
      queue.fail(error)
      return undefined
    })
    // A generator that awaits a value cannot be returned from outside; ending the queue ends it.
    releases.add(queue.end)
    if (isClosed) queue.end()
    return queue.iterator
  }

  /** An element that yields without awaiting anything would block the event loop. */
  async function yieldIfBudgetSpent(): Promise<void> {
    if (scheduler.isBudgetSpent()) await scheduler.wait(queueKey())
  }

  // Inherits, because a spread would evaluate the getters of the context.
  const own = Object.assign(Object.create(context) as Context, {
    subscribe,
    values,
    signal: ended.signal,
    starts: (work: Promise<unknown>) => void subscribing.push(work),
  }) as SubscriptionContext
  let iterator: AsyncIterator<unknown> | undefined

  async function pump(): Promise<void> {
    try {
      iterator = element.subscribe(args, own)[Symbol.asyncIterator]()
      for (let next = await iterator.next(); !next.done && !isClosed; next = await iterator.next()) {
        await yieldIfBudgetSpent()
        await onValue(next.value)
      }
      if (!isClosed) onEnd()
    } catch (error) {
      // The caller must receive the source first, even if the element throws synchronously.
      await undefined
      if (!isClosed) onEnd(error)
    } finally {
      close()
    }
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    deliveries.close()
    ended.abort()
    for (const release of [...releases]) release()
    releases.clear()
    // Runs the element's own clean-up; no one is left to report its errors to.
    void Promise.resolve(iterator?.return?.()).catch(() => {})
  }

  void pump()
  return { started: Promise.allSettled(subscribing).then(() => {}), close }
}

interface DeliveriesOptions extends Pick<SourceOptions, 'scheduler' | 'queueKey'> {
  onFull(error: Error): void
}

/** The publisher does not wait: a topic may have thousands of sources, each with an operation to execute. */
function createDeliveries({ scheduler, queueKey, onFull }: DeliveriesOptions) {
  const waiting: Delivery[] = []
  let isClosed = false

  function deliverOldest(): void {
    const oldest = waiting.shift()
    if (oldest && !oldest.subscription.isOver && !isClosed) oldest.subscription.listener(oldest.value)
  }

  return {
    add(delivery: Delivery): void {
      if (isClosed) return
      waiting.push(delivery)
      // Each job delivers the oldest value, so the order is kept even if the source has moved to another queue.
      if (!scheduler.run(queueKey(), deliverOldest)) onFull(new Error('too many undelivered values'))
    },
    close(): void {
      isClosed = true
      waiting.length = 0
    },
  }
}
