/**
 * Carries values between the threads of a process, and hands them on in the same order in all of them. Each value takes a
 * number from shared memory when it is sent.
 */
import { type BroadcastChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { createNumberedValues, type Numbered } from './numbered-values.ts'

export interface ChannelParts {
  /** Closed with what is opened on it. */
  channel: BroadcastChannel
  /** One element, in memory that the threads share: how many values were sent. */
  sent: BigInt64Array
}

export interface ThreadChannel<Value> {
  /** Values that are sent together cross as one message. The sender gets them too, before the next turn of its event loop. */
  send(value: Value): void
  /** For values that were sent before: undefined if all of them have been handed on. */
  catchUp(): Promise<void> | undefined
  /** Sends what is waiting. */
  close(): void
}

export function openThreadChannel<Value>(
  { channel, sent }: ChannelParts,
  onValues: (values: readonly Value[]) => void,
): ThreadChannel<Value> {
  const countSent = () => Number(Atomics.load(sent, 0))
  const numbered = createNumberedValues<Value>({ onValues, countSent, takeArrived })
  let outbox: Value[] = []

  channel.onmessage = (event) => {
    numbered.accept((event as { data: Numbered<Value> }).data)
    numbered.handOn()
  }
  // Only what listens for clients keeps a thread alive.
  channel.unref()

  /** What other threads sent may have arrived already, though its event has not. */
  function takeArrived(): void {
    // Documented for both, but typed for one.
    const port = channel as unknown as MessagePort
    for (let taken = receiveMessageOnPort(port); taken; taken = receiveMessageOnPort(port)) {
      numbered.accept(taken.message as Numbered<Value>)
    }
  }

  function flush(): void {
    if (outbox.length === 0) return
    const values = outbox
    outbox = []
    const first = Number(Atomics.add(sent, 0, BigInt(values.length)))
    const message: Numbered<Value> = { first, values }
    channel.postMessage(message)
    numbered.accept(message)
    numbered.handOn()
  }

  return {
    send(value) {
      if (outbox.push(value) === 1) queueMicrotask(flush)
    },
    catchUp() {
      flush()
      return numbered.catchUp()
    },
    close() {
      flush()
      channel.close()
      numbered.close()
    },
  }
}
