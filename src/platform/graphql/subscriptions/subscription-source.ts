/** Where the values of a subscription come from: the iterator of its element, and all that it listens to. */
import type { Bus, Unsubscribe } from '../../bus/bus.ts'
import type { FairTurns } from '../execution/fair-turns.ts'
import type { Context, Subscription, SubscriptionContext } from '../schema/elements.ts'
import { createAsyncQueue } from './async-queue.ts'

export interface SourceOptions {
  element: Pick<Subscription, 'subscribe'>
  args: Record<string, unknown>
  context: Context
  bus: Bus
  turns: FairTurns
  /** Whose turn it takes to deliver a value. */
  line(): string
  /** The next value waits for it. */
  onValue(value: unknown): Promise<void>
  /** The element has ended by itself, or failed. */
  onEnd(error?: unknown): void
}

export interface Source {
  /** Resolves when what is published from now on will arrive. */
  readonly started: Promise<void>
  /** Releases everything, whatever the element does. */
  close(): void
}

/** Published and not yet delivered. */
interface Waiting {
  listening: { isOver: boolean; listener(value: unknown): void }
  value: unknown
}

export function openSource(options: SourceOptions): Source {
  const { element, args, context, bus, turns, line, onValue, onEnd } = options
  const releases = new Set<() => void>()
  const subscribing: Promise<unknown>[] = []
  const waiting: Waiting[] = []
  let isClosed = false

  async function subscribe(topic: string, listener: (value: unknown) => void): Promise<Unsubscribe> {
    const listening = { listener, isOver: false }
    const asked = bus.subscribe(topic, (value) => receive({ listening, value }))
    subscribing.push(asked)
    const unsubscribe = await asked
    const release = () => {
      if (!releases.delete(release)) return
      listening.isOver = true
      unsubscribe()
    }
    releases.add(release)
    if (isClosed) release()
    return release
  }

  /** The publisher does not wait: a topic may have thousands of sources, each with an operation to execute. */
  function receive(published: Waiting): void {
    if (isClosed) return
    waiting.push(published)
    // Each job delivers the oldest value, so that values keep their order even if the source has changed lines.
    if (!turns.run(line(), deliverOldest)) fail(new Error('too many values are waiting for their delivery'))
  }

  function deliverOldest(): void {
    const oldest = waiting.shift()
    if (oldest && !oldest.listening.isOver && !isClosed) oldest.listening.listener(oldest.value)
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
    // At once, not when the first value is asked for: nothing published meanwhile is missed.
    const unsubscribing = subscribe(topic, (value) => queue.push(value as Value)).catch((error: unknown) => {
      queue.fail(error)
      return undefined
    })
    // A generator that waits for a value cannot be ended from outside. The end of its values ends it.
    releases.add(queue.end)
    if (isClosed) queue.end()
    return queue.iterator
  }

  /** Elements that yield without waiting for anything would otherwise keep the event loop to themselves. */
  async function takeTurn(): Promise<void> {
    if (turns.isOver()) await turns.wait(line())
  }

  // The getters of the given context stay what they are.
  const own = Object.assign(Object.create(context) as Context, { subscribe, values }) as SubscriptionContext
  let iterator: AsyncIterator<unknown> | undefined

  async function pump(): Promise<void> {
    try {
      iterator = element.subscribe(args, own)[Symbol.asyncIterator]()
      for (let next = await iterator.next(); !next.done && !isClosed; next = await iterator.next()) {
        await takeTurn()
        await onValue(next.value)
      }
      if (!isClosed) onEnd()
    } catch (error) {
      // Whoever opened it must have it first, even where the element fails at once.
      await undefined
      if (!isClosed) onEnd(error)
    } finally {
      close()
    }
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    waiting.length = 0
    for (const release of [...releases]) release()
    releases.clear()
    // Its own clean-up. What fails there has nobody left to tell.
    void Promise.resolve(iterator?.return?.()).catch(() => {})
  }

  void pump()
  return { started: Promise.allSettled(subscribing).then(() => {}), close }
}
