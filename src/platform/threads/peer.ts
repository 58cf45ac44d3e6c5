/** Calls between two threads over a message port, in both directions. */
import { MessagePort, type Worker } from 'node:worker_threads'
import { serviceUnavailable } from '../../core/app-error.ts'
import { FatalError } from '../../core/fatal-error.ts'

type Methods = Record<string, (argument: never) => unknown>

export interface Peer<Remote extends Methods> {
  /** Rejects if the remote function throws, or if the other thread ends. Ports in the argument must be listed. */
  call<Name extends keyof Remote & string>(
    name: Name,
    argument: Parameters<Remote[Name]>[0],
    ports?: readonly MessagePort[],
  ): Promise<Awaited<ReturnType<Remote[Name]>>>
  /** Without waiting for an answer. A failure is ignored. */
  tell<Name extends keyof Remote & string>(name: Name, argument: Parameters<Remote[Name]>[0]): void
  /** Stops listening. Fails every call that waits, and every later one. */
  end(reason: Error): void
}

type Message =
  | { kind: 'call'; id: number | undefined; name: string; argument: unknown }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: PlainFailure }

/** Errors lose their class between threads. */
interface PlainFailure {
  message: string
  stack: string | undefined
  /** Of a FatalError. */
  fatal: { lines: readonly string[]; exitCode: number } | undefined
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Answers the other side's calls with `own`. */
export function createPeer<Remote extends Methods>(given: MessagePort | Worker, own: Methods): Peer<Remote> {
  // Both have the methods used here, but their types do not unite.
  const port = given as Worker
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let ended: Error | undefined

  async function answer({ id, name, argument }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const value = await own[name]?.(argument as never)
      if (id === undefined) return
      port.postMessage({ kind: 'result', id, value } satisfies Message, value instanceof MessagePort ? [value] : [])
    } catch (error) {
      if (id !== undefined) port.postMessage({ kind: 'error', id, error: toPlain(error as Error) } satisfies Message)
    }
  }
  function take(message: Message): void {
    if (message.kind === 'call') return void answer(message)
    const call = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.kind === 'result') call?.resolve(message.value)
    else call?.reject(fromPlain(message.error))
  }
  port.on('message', take)

  return {
    call(name, argument, ports = []) {
      return new Promise((resolve, reject) => {
        if (ended) throw ended
        lastId += 1
        waiting.set(lastId, { resolve: resolve as Waiting['resolve'], reject })
        port.postMessage({ kind: 'call', id: lastId, name, argument } satisfies Message, ports)
      })
    },
    tell(name, argument) {
      if (!ended) port.postMessage({ kind: 'call', id: undefined, name, argument } satisfies Message)
    },
    end(reason) {
      ended = serviceUnavailable(reason)
      port.off('message', take)
      for (const { reject } of waiting.values()) reject(ended)
      waiting.clear()
    },
  }
}

function toPlain(error: Error): PlainFailure {
  const fatal = error instanceof FatalError ? { lines: error.lines, exitCode: error.exitCode } : undefined
  return { message: error.message, stack: error.stack, fatal }
}

function fromPlain({ message, stack, fatal }: PlainFailure): Error {
  const error = fatal ? new FatalError(fatal.lines, fatal.exitCode) : new Error(message)
  if (stack !== undefined) error.stack = stack
  return error
}
