/**
 * Password hashes. A hash is a quarter of a second of pure work: it runs on threads of its own and of low priority, which
 * client addresses share fairly, so that a storm of logins from one of them delays nobody else.
 */
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { AppError, serviceUnavailable } from '../../core/app-error.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import type { Client } from '../http/client.ts'
import { rateKey } from '../limiter/limiter.ts'
import type { Task } from './bcrypt-thread.ts'

/** For whom it is computed. */
export type HashClient = Pick<Client, 'address' | 'isGone'>

export interface Passwords {
  hash(password: string, client: HashClient): Promise<string>
  /** Without a hash, one of equal cost is computed all the same, and the answer is false. Goes before `hash`. */
  verify(given: { password: string; hash: string | undefined; client: HashClient }): Promise<boolean>
  /** Whether a hash was made at another cost than today's. */
  isOutdated(hash: string): boolean
  close(): Promise<void>
}

/** Bcrypt reads no further than this. */
export const maxPasswordBytes = 72
const maxPerClient = 256
const maxWaiting = 4096
const lowPriority = 10

/** Of a long random password that was kept nowhere. What a comparison costs depends on the cost alone. */
const nobodysSaltAndHash = 'wg8AVmB8.hXBQAVjX/IU2uYbSAD56fTGh5i8OZp4VteOYPF.rPOhe'

export function createPasswords({ cost }: { cost: number }): Passwords {
  const threads = availableParallelism()
  const queue = createFairQueue({
    atOnce: threads,
    maxPerClient,
    maxWaiting,
    full: () => serviceUnavailable(),
    gone: clientGone,
  })
  const pool = new Piscina({
    filename: new URL('./bcrypt-thread.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: 30_000,
    niceIncrement: lowPriority,
    // Sharing memory for messages would keep a thread spinning between tasks.
    atomics: 'disabled',
  })

  function run<T>(task: Task, { address, isGone }: HashClient): Promise<T> {
    const ticket = { client: rateKey(address), isUrgent: task.kind === 'verify', ...(isGone && { isGone }) }
    return queue.run(ticket, () => pool.run(task) as Promise<T>)
  }

  const nobodysHash = `$2b$${String(cost).padStart(2, '0')}$${nobodysSaltAndHash}`

  return {
    hash: (password, client) => run<string>({ kind: 'hash', password, cost }, client),
    async verify({ password, hash, client }) {
      // Beyond bcrypt's limit, or in text that is not Unicode, two passwords could look the same: nobody has such a one.
      const isPossible = Buffer.byteLength(password) <= maxPasswordBytes && password.isWellFormed()
      const compared = hash === undefined || !isPossible ? nobodysHash : hash
      // A hash of a lower cost is computed as often as makes up for it: the time must not tell who has one.
      const times = 2 ** Math.max(0, cost - costOf(compared))
      const task: Task = { kind: 'verify', password: isPossible ? password : '', hash: compared, times }
      const isRight = await run<boolean>(task, client)
      return isRight && compared === hash
    },
    isOutdated: (hash) => costOf(hash) !== cost,
    // What still waits is for clients who have been cut off by then.
    close() {
      queue.close()
      return pool.close({ force: true })
    },
  }
}

function costOf(hash: string): number {
  return Number(/^\$2[aby]\$(\d\d)\$/.exec(hash)?.[1])
}

/** Only log and metrics see it, by the status that web servers use for this. */
function clientGone(): AppError {
  return new AppError(499, 'Client closed the connection', { code: 'client_closed' })
}
