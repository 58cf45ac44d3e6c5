/** A worker thread that serves the thread that started it and, over ports, others. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Thread } from './thread.ts'

/** One user's connection to the thread. */
export interface ThreadLink<To, From> {
  post(message: To): void
  onMessage(listener: (message: From) => void): void
  /** Called once, if the thread ends before the link is closed. */
  onEnd(listener: (error: Error) => void): void
  /** The owner ends the thread, everybody else only the connection. Call when nothing is waited for. */
  close(): Promise<void>
}

export interface OwnedThread<To, From> extends ThreadLink<To, From> {
  /** A port for another thread, to be used with `linkTo`. */
  connect(): MessagePort
}

/** The messages that every such thread understands beside its own. */
export type LinkMessage = { kind: 'connect'; port: MessagePort } | { kind: 'close' }

export function startThread<To, From>(file: URL, workerData: object): OwnedThread<To, From> {
  const worker = new Thread(file, { workerData })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let isClosing = false
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (listener) => void worker.on('message', listener),
    onEnd(listener) {
      let hasEnded = false
      const end = (error: Error) => {
        if (hasEnded || isClosing) return
        hasEnded = true
        listener(error)
      }
      worker.once('error', (error) => end(error as Error))
      worker.once('exit', () => end(new Error('the thread ended')))
    },
    connect() {
      const { port1, port2 } = new MessageChannel()
      worker.postMessage({ kind: 'connect', port: port1 } satisfies LinkMessage, [port1])
      return port2
    },
    async close() {
      isClosing = true
      worker.postMessage({ kind: 'close' } satisfies LinkMessage)
      await exited
    },
  }
}

export function linkTo<To, From>(port: MessagePort): ThreadLink<To, From> {
  let isClosing = false
  return {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on('message', listener),
    onEnd(listener) {
      port.once('close', () => {
        if (!isClosing) listener(new Error('the thread ended'))
      })
    },
    async close() {
      isClosing = true
      port.close()
    },
  }
}
