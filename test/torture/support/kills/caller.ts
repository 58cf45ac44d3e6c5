/** Requests to a service that is killed again and again. */
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type CallOptions, send } from '../requests.ts'

/** It is not known what became of a request. 503 is no answer either: the connection to the database may have broken. */
export class NotAnswered extends Error {}

/** What the writes are counted by. */
export type WriteKind = 'create' | 'update' | 'delete' | 'register' | 'login' | 'refresh' | 'roles'

export interface Caller {
  /** Rejects with NotAnswered, or with another error for a status that is not wanted. */
  call(wanted: readonly number[], options: CallOptions): Promise<Answer>
  acknowledge(kind: WriteKind): void
  /** Connections to a process that has ended are not used again. */
  reconnect(): void
}

/** `acknowledged` counts the writes. */
export function createCaller(url: string, acknowledged: Map<WriteKind, number>): Caller {
  let agent = new Agent({ keepAlive: true })
  return {
    async call(wanted, options) {
      const answer = await send(agent, url, options).catch(() => undefined)
      if (!answer || answer.status === 503) throw new NotAnswered()
      if (wanted.includes(answer.status)) return answer
      const text = `${answer.status} ${JSON.stringify(answer.body)}`.slice(0, 300)
      throw new Error(`${options.method ?? ''} ${options.path} was answered with ${text}`)
    },
    acknowledge: (kind) => void acknowledged.set(kind, (acknowledged.get(kind) ?? 0) + 1),
    reconnect() {
      agent.destroy()
      agent = new Agent({ keepAlive: true })
    },
  }
}

const attempts = 1500

/** Repeats work until it is answered, for half a minute. */
export async function untilAnswered(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NotAnswered)) throw error
      if (attempt === attempts) throw new Error('a request was not answered for half a minute')
      await sleep(20)
    }
  }
}
