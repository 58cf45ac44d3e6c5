/**
 * Password hashes. A hash is a quarter of a second of pure work: it runs on threads of its own, of low priority and in a
 * bounded queue, so that a storm of logins starves nobody else and waits for nothing that will not come.
 */
import { availableParallelism } from 'node:os'
import { Piscina } from 'piscina'
import { AppError } from '../../core/app-error.ts'
import type { Task } from './bcrypt-thread.ts'

export interface Passwords {
  hash(password: string): Promise<string>
  /** Without a hash, one of equal cost is computed all the same, and the answer is false. */
  verify(password: string, hash: string | undefined): Promise<boolean>
  /** Whether a hash was made at another cost than today's. */
  isOutdated(hash: string): boolean
  close(): Promise<void>
}

/** Bcrypt reads no further than this. */
export const maxPasswordBytes = 72
const maxWaiting = 512
const lowPriority = 10

/** Of a long random password that was kept nowhere. What a comparison costs depends on the cost alone. */
const nobodysSaltAndHash = 'wg8AVmB8.hXBQAVjX/IU2uYbSAD56fTGh5i8OZp4VteOYPF.rPOhe'

export function createPasswords({ cost }: { cost: number }): Passwords {
  const pool = new Piscina({
    filename: new URL('./bcrypt-thread.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: 1,
    maxThreads: availableParallelism(),
    idleTimeout: 30_000,
    maxQueue: maxWaiting,
    niceIncrement: lowPriority,
    // Sharing memory for messages would keep a thread spinning between tasks.
    atomics: 'disabled',
  })

  async function run<T>(task: Task): Promise<T> {
    if (pool.queueSize >= maxWaiting) throw busy()
    return (await pool.run(task)) as T
  }

  const nobodysHash = `$2b$${String(cost).padStart(2, '0')}$${nobodysSaltAndHash}`

  return {
    hash: (password) => run<string>({ kind: 'hash', password, cost }),
    async verify(password, hash) {
      // Beyond bcrypt's limit, or in text that is not Unicode, two passwords could look the same: nobody has such a one.
      const isPossible = Buffer.byteLength(password) <= maxPasswordBytes && password.isWellFormed()
      const compared = hash === undefined || !isPossible ? nobodysHash : hash
      // A hash of a lower cost is computed as often as makes up for it: the time must not tell who has one.
      const times = 2 ** Math.max(0, cost - costOf(compared))
      const isRight = await run<boolean>({
        kind: 'verify',
        password: isPossible ? password : '',
        hash: compared,
        times,
      })
      return isRight && compared === hash
    },
    isOutdated: (hash) => costOf(hash) !== cost,
    // What still waits is for clients who have been cut off by then.
    close: () => pool.close({ force: true }),
  }
}

function costOf(hash: string): number {
  return Number(/^\$2[aby]\$(\d\d)\$/.exec(hash)?.[1])
}

function busy(): AppError {
  return new AppError(503, 'Service unavailable', { headers: { 'retry-after': '5' } })
}
