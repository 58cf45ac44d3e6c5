/**
 * Carries values between the threads of a process, and hands them on in the same order in all of them. Each value takes a
 * number from shared memory when it is sent.
 */
import { type BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

export interface ChannelParts {
  /** Closed with what is opened on it. */
  channel: BroadcastChannel
  /** One element, in memory that the threads share: how many values were sent. */
  sent: BigInt64Array
}

export interface ThreadChannel<Value> {
  /** Values that are sent together cross as one message. The sender gets them too, before what awaits the next turn. */
  send(value: Value): void
  /** For values that were sent before: undefined if all of them have been handed on. */
  catchUp(): Promise<void> | undefined
  /** Sends what is waiting. */
  close(): void
}

interface Message<Value> {
  /** The number of the first value. */
  first: number
  values: readonly Value[]
}

interface Waiter {
  /** Waits for all values before this one. */
  to: number
  resolve(): void
}

/** A thread that died after taking a number never sends it. */
const maxGapMs = 1000

export function openThreadChannel<Value>(
  { channel, sent }: ChannelParts,
  onValues: (values: readonly Value[]) => void,
): ThreadChannel<Value> {
  const arrived = new Map<number, readonly Value[]>()
  const catchingUp = new Set<Waiter>()
  let outbox: Value[] = []
  // What was sent before has no listener here.
  let next = countSent()
  let gap: { at: number; timer: NodeJS.Timeout } | undefined

  channel.onmessage = (event) => {
    accept((event as { data: Message<Value> }).data)
    handOn()
  }
  // Only what listens for clients keeps a thread alive.
  channel.unref()

  function countSent(): number {
    return Number(Atomics.load(sent, 0))
  }

  function flush(): void {
    if (outbox.length === 0) return
    const values = outbox
    outbox = []
    const first = Number(Atomics.add(sent, 0, BigInt(values.length)))
    const message: Message<Value> = { first, values }
    channel.postMessage(message)
    accept(message)
    handOn()
  }

  function accept({ first, values }: Message<Value>): void {
    // It was given up.
    if (first < next) onValues(values)
    else arrived.set(first, values)
  }

  /** What other threads sent may have arrived already, though its event has not. */
  function takeArrived(): void {
    // Documented for both, but typed for one.
    const port = channel as unknown as MessagePort
    for (let taken = receiveMessageOnPort(port); taken; taken = receiveMessageOnPort(port)) {
      accept(taken.message as Message<Value>)
    }
  }

  function handOn(): void {
    if (!arrived.has(next)) takeArrived()
    for (let values = arrived.get(next); values; values = arrived.get(next)) {
      arrived.delete(next)
      next += values.length
      onValues(values)
      if (!arrived.has(next) && arrived.size > 0) takeArrived()
    }
    for (const waiter of catchingUp) if (waiter.to <= next) finish(waiter)
    watchGap()
  }

  function finish(waiter: Waiter): void {
    catchingUp.delete(waiter)
    waiter.resolve()
  }

  /** The time counts from the last value that was handed on, not from the last that arrived. */
  function watchGap(): void {
    const isWaiting = arrived.size > 0 || catchingUp.size > 0
    if (isWaiting && gap?.at === next) return
    clearTimeout(gap?.timer)
    gap = isWaiting ? { at: next, timer: setTimeout(giveUp, maxGapMs).unref() } : undefined
  }

  function giveUp(): void {
    gap = undefined
    takeArrived()
    if (!arrived.has(next)) next = arrived.size > 0 ? Math.min(...arrived.keys()) : countSent()
    handOn()
  }

  return {
    send(value) {
      if (outbox.push(value) === 1) queueMicrotask(flush)
    },
    catchUp() {
      flush()
      const to = countSent()
      if (next < to) handOn()
      if (next >= to) return undefined
      return new Promise((resolve) => {
        catchingUp.add({ to, resolve })
        watchGap()
      })
    },
    close() {
      flush()
      clearTimeout(gap?.timer)
      channel.close()
      for (const waiter of catchingUp) finish(waiter)
    },
  }
}
