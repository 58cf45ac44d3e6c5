/**
 * Password hashing with bcrypt. A hash takes a quarter of a second of CPU time, so it runs on low-priority threads, which
 * client addresses share fairly: a flood of logins from one address does not delay the others.
 */
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { AppError, serviceUnavailable } from '../../core/app-error.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import type { Client } from '../http/client.ts'
import { rateKey } from '../limiter/limiter.ts'
import type { Task } from './bcrypt-thread.ts'

export type HashClient = Pick<Client, 'address' | 'isGone'>

export interface Passwords {
  hash(password: string, client: HashClient): Promise<string>
  /** Without a hash, computes one of equal cost and returns false, so that timing tells nothing. Served before `hash`. */
  verify(given: { password: string; hash: string | undefined; client: HashClient }): Promise<boolean>
  /** Whether the hash has another cost than the configured one. */
  isOutdated(hash: string): boolean
  /** Hashes being computed, and those that wait for a thread. */
  load(): { running: number; waiting: number }
  close(): Promise<void>
}

/** Bcrypt ignores further bytes. */
export const maxPasswordBytes = 72
const maxPerClient = 256
const maxWaiting = 4096
const lowPriority = 10

/** The salt and hash of a random password that was discarded. The time of a comparison depends only on the cost. */
const dummySaltAndHash = 'wg8AVmB8.hXBQAVjX/IU2uYbSAD56fTGh5i8OZp4VteOYPF.rPOhe'

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
    // With Atomics, idle threads would spin between tasks.
    atomics: 'disabled',
  })

  function run<T>(task: Task, { address, isGone }: HashClient): Promise<T> {
    const ticket = { client: rateKey(address), isUrgent: task.kind === 'verify', ...(isGone && { isGone }) }
    return queue.run(ticket, () => pool.run(task) as Promise<T>)
  }

  const dummyHash = `$2b$${String(cost).padStart(2, '0')}$${dummySaltAndHash}`

  return {
    hash: (password, client) => run<string>({ kind: 'hash', password, cost }, client),
    async verify({ password, hash, client }) {
      // Different passwords beyond bcrypt's limit, or with lone surrogates, could hash the same. Such ones are never set.
      const isPossible = Buffer.byteLength(password) <= maxPasswordBytes && password.isWellFormed()
      const compared = hash === undefined || !isPossible ? dummyHash : hash
      // A hash of lower cost is computed repeatedly to take equal time, so that timing does not reveal old accounts.
      const times = 2 ** Math.max(0, cost - costOf(compared))
      const task: Task = { kind: 'verify', password: isPossible ? password : '', hash: compared, times }
      const isRight = await run<boolean>(task, client)
      return isRight && compared === hash
    },
    isOutdated: (hash) => costOf(hash) !== cost,
    load: () => ({ running: queue.running(), waiting: queue.counts().waiting }),
    // By now the clients of waiting tasks have been disconnected.
    close() {
      queue.close()
      return pool.close({ force: true })
    },
  }
}

function costOf(hash: string): number {
  return Number(/^\$2[aby]\$(\d\d)\$/.exec(hash)?.[1])
}

/** 499 as in nginx. Seen only in log and metrics. */
function clientGone(): AppError {
  return new AppError(499, 'Client closed the connection', { code: 'client_closed' })
}
