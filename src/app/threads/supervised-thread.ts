/** One serving thread, as the main thread sees it. */
import type { Worker } from 'node:worker_threads'
import type { HubMethods } from '../../platform/threads/hub.ts'
import { createPeer, type Peer } from '../../platform/threads/peer.ts'
import { createStallMeter, lateMs, type Stall } from '../../platform/threads/pulse.ts'
import { type Sample, sampleWorker } from '../../platform/threads/stack-sample.ts'
import { Thread } from '../../platform/threads/thread.ts'
import type { ListenAt } from '../create-app.ts'
import { labelOf } from '../gauges.ts'
import type { Descriptors, ThreadData, ThreadMethods } from './thread-methods.ts'

export interface ServingThread extends Pick<Peer<ThreadMethods>, 'call' | 'tell'> {
  /** As metrics name it. */
  readonly label: string
  open(): Promise<void>
  /** From then on it is measured whether the thread responds. */
  listen(at: ListenAt): ReturnType<ThreadMethods['listen']>
  /** Undefined until it listens. */
  descriptors(): Descriptors | undefined
  /** See StallMeter. */
  measure(elapsedMs: number): void
  /** As last measured. */
  stalledMs(): number
  /** Its event loop has not turned for so long that it gets no more connections. */
  isLate(): boolean
  /** What it is doing. Undefined if it cannot be interrupted. */
  sample(): Promise<Sample | undefined>
  /** Called once, if the thread ends without having been told to. */
  onDeath(listener: (error: Error) => void): void
  /** Lets it end its requests, then ends it. */
  close(): Promise<void>
  /** Ends it at once. */
  terminate(): Promise<void>
  /** The same, but it counts as a death. */
  kill(reason: Error): void
}

/** Where the worker threads come from. Tests use them again, because loading the program takes a second. */
export interface Workers {
  take(): Worker
  giveBack(worker: Worker): Promise<unknown>
}

const newWorkers: Workers = {
  take: () => new Thread(servingThread, { name: 'serving' }),
  giveBack: (worker) => worker.terminate(),
}

export const servingThread = new URL('./serving-thread.ts', import.meta.url)

export function startServingThread(data: ThreadData, hub: HubMethods, workers = newWorkers): ServingThread {
  const { sqlite } = data.share
  const worker = workers.take()
  const { threadId } = worker
  const peer = createPeer<ThreadMethods>(worker, hub)
  const meter = createStallMeter(data.share.pulse)
  let isEnding = false
  let stall: Stall = { silentMs: 0, stalledMs: 0 }
  let descriptors: Descriptors | undefined
  let failure: Error | undefined
  let onDeath = (_error: Error) => {}
  const onError = (error: unknown) => {
    failure = error as Error
  }
  const onExit = (code: number) => {
    const reason = failure ?? new Error(`a serving thread ended with code ${code}`)
    peer.end(reason)
    if (!isEnding) onDeath(reason)
  }
  worker.on('error', onError)
  worker.on('exit', onExit)

  async function close(): Promise<void> {
    isEnding = true
    await peer.call('close', undefined).catch(() => {})
    peer.end(new Error('the serving thread is closed'))
    worker.off('error', onError)
    worker.off('exit', onExit)
    await workers.giveBack(worker)
  }
  // Once: afterwards, the worker may be somebody else's.
  let closed: Promise<void> | undefined

  return {
    label: labelOf(threadId),
    call: peer.call,
    tell: peer.tell,
    open: () => peer.call('open', data, sqlite ? [sqlite.writer] : []),
    async listen(at) {
      const listening = await peer.call('listen', at)
      descriptors = listening.descriptors
      return listening
    },
    descriptors: () => descriptors,
    measure(elapsedMs) {
      stall = meter.measure(elapsedMs)
    },
    stalledMs: () => stall.stalledMs,
    isLate: () => stall.silentMs >= lateMs,
    sample: () => sampleWorker(threadId),
    onDeath(listener) {
      onDeath = listener
    },
    close() {
      closed ??= close()
      return closed
    },
    kill(reason) {
      failure = reason
      void worker.terminate()
    },
    async terminate() {
      isEnding = true
      await worker.terminate()
    },
  }
}
