/** One serving thread, as the main thread sees it. */
import { Worker } from 'node:worker_threads'
import type { HubMethods } from '../../platform/threads/hub.ts'
import { createPeer, type Peer } from '../../platform/threads/peer.ts'
import type { ThreadData, ThreadMethods } from './thread-methods.ts'

export interface ServingThread extends Pick<Peer<ThreadMethods>, 'call' | 'tell'> {
  open(): Promise<void>
  /** Called once, if the thread ends without having been told to. */
  onDeath(listener: (error: Error) => void): void
  /** Lets it end its requests, then ends it. */
  close(): Promise<void>
  /** Ends it at once. */
  terminate(): Promise<void>
}

/** Where the worker threads come from. Tests use them again, because loading the program takes a second. */
export interface Workers {
  take(): Worker
  giveBack(worker: Worker): Promise<unknown>
}

const newWorkers: Workers = {
  take: () => new Worker(servingThread, { name: 'serving' }),
  giveBack: (worker) => worker.terminate(),
}

export const servingThread = new URL('./serving-thread.ts', import.meta.url)

export function startServingThread(data: ThreadData, hub: HubMethods, workers = newWorkers): ServingThread {
  const { sqlite } = data.share
  const worker = workers.take()
  const peer = createPeer<ThreadMethods>(worker, hub)
  let isEnding = false
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
    call: peer.call,
    tell: peer.tell,
    open: () => peer.call('open', data, sqlite ? [sqlite.writer] : []),
    onDeath(listener) {
      onDeath = listener
    },
    close() {
      closed ??= close()
      return closed
    },
    async terminate() {
      isEnding = true
      await worker.terminate()
    },
  }
}
