/**
 * Samples the stack of a thread that does not respond, by the debugger: it interrupts JavaScript even in an endless loop,
 * and lets the thread continue afterwards. A thread that is blocked in a system call cannot be sampled.
 */
import { Session } from 'node:inspector'
import { activityExpression } from './activity.ts'

export interface Sample {
  /** Requests without a response, by route. */
  requests: readonly string[]
  /** The innermost function first. */
  stack: readonly string[]
}

/** A thread, as its debugger sees it. */
interface Debugged {
  send(method: string, params?: object): Promise<unknown>
  onEvent(listener: (event: DebuggerEvent) => void): void
}

interface DebuggerEvent {
  method: string
  params: { scriptId: string; url: string; callFrames: readonly CallFrame[] }
}

interface CallFrame {
  functionName: string
  location: { scriptId: string; lineNumber: number; columnNumber?: number }
}

const timeoutMs = 5000
const maxFrames = 20

/** Of a worker, called in the main thread. Undefined if it cannot be interrupted. */
export async function sampleWorker(threadId: number): Promise<Sample | undefined> {
  const session = new Session()
  session.connect()
  try {
    return await takeSample(await attachTo(session, threadId))
  } catch {
    return undefined
  } finally {
    // Whatever has not been paused until now never will be.
    session.disconnect()
  }
}

/** Of the main thread, called in a worker. */
export async function sampleMainThread(): Promise<Sample | undefined> {
  const session = new Session()
  session.connectToMainThread()
  try {
    return await takeSample({
      send: (method, params) => post(session, method, params),
      onEvent: (listener) => session.on('inspectorNotification', (event) => listener(event as DebuggerEvent)),
    })
  } catch {
    return undefined
  } finally {
    session.disconnect()
  }
}

async function takeSample({ send, onEvent }: Debugged): Promise<Sample | undefined> {
  const urls = new Map<string, string>()
  const sampled = Promise.withResolvers<Sample | undefined>()
  const timer = setTimeout(() => sampled.resolve(undefined), timeoutMs)

  async function look(frames: readonly CallFrame[]): Promise<Sample> {
    const stack = frames.slice(0, maxFrames).map(({ functionName, location }) => {
      const place = `${urls.get(location.scriptId) || 'unknown'}:${location.lineNumber + 1}`
      return functionName ? `${functionName} (${place})` : place
    })
    // Not in the innermost frame, which may be one of Node with names of its own.
    const evaluation = { expression: activityExpression, returnByValue: true, silent: true }
    const { result } = (await send('Runtime.evaluate', evaluation)) as { result?: { value?: unknown } }
    const requests = Array.isArray(result?.value) ? result.value.map(String) : []
    // Answered once it runs again: a thread that is terminated while it is paused would never end.
    await send('Debugger.disable')
    return { requests, stack }
  }

  onEvent(({ method, params }) => {
    if (method === 'Debugger.scriptParsed') urls.set(params.scriptId, params.url)
    if (method === 'Debugger.paused') look(params.callFrames).then(sampled.resolve, sampled.reject)
  })
  try {
    await Promise.race([send('Debugger.enable').then(() => send('Debugger.pause')), sampled.promise])
    return await sampled.promise
  } finally {
    clearTimeout(timer)
  }
}

/** The debugger of a worker speaks through the main thread's, in texts. */
function attachTo(session: Session, threadId: number): Promise<Debugged> {
  const waiting = new Map<number, (result: unknown) => void>()
  let onEvent = (_event: DebuggerEvent) => {}
  let lastId = 0
  return new Promise((resolve, reject) => {
    session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const message = JSON.parse(params.message) as { id?: number; result?: unknown } & DebuggerEvent
      if (message.id === undefined) return onEvent(message)
      waiting.get(message.id)?.(message.result)
      waiting.delete(message.id)
    })
    session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      // `workerId` only counts. The title is '[worker 3] serving'.
      if (!workerInfo.title.startsWith(`[worker ${threadId}] `)) return
      const send: Debugged['send'] = (method, params = {}) => {
        lastId += 1
        const message = JSON.stringify({ id: lastId, method, params })
        const answered = new Promise((resolveSent) => waiting.set(lastId, resolveSent))
        return post(session, 'NodeWorker.sendMessageToWorker', { sessionId, message }).then(() => answered)
      }
      resolve({
        send,
        onEvent(listener) {
          onEvent = listener
        },
      })
    })
    post(session, 'NodeWorker.enable', { waitForDebuggerOnStart: false }).then(
      // All workers have been announced by now.
      () => reject(new Error('no such worker')),
      reject,
    )
  })
}

function post(session: Session, method: string, params: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)))
  })
}
