/** Passwords as bcrypt hashes. */
import type { Client } from '../http/client.ts'
import { rateKey } from '../limiter/limiter.ts'
import type { Task } from './bcrypt-thread.ts'
import type { HashPool } from './hash-pool.ts'

export type HashClient = Pick<Client, 'address' | 'isGone'>

export interface Passwords {
  hash(password: string, client: HashClient): Promise<string>
  /** Without a hash, computes one of equal cost and returns false, so that timing tells nothing. Served before `hash`. */
  verify(given: { password: string; hash: string | undefined; client: HashClient }): Promise<boolean>
  /** Whether the hash has another cost than the configured one. */
  isOutdated(hash: string): boolean
}

/** Bcrypt ignores further bytes. */
export const maxPasswordBytes = 72

/** The salt and hash of a random password that was discarded. The time of a comparison depends only on the cost. */
const dummySaltAndHash = 'wg8AVmB8.hXBQAVjX/IU2uYbSAD56fTGh5i8OZp4VteOYPF.rPOhe'

export function createPasswords({ cost, pool }: { cost: number; pool: HashPool }): Passwords {
  function run<T>(task: Task, { address, isGone }: HashClient): Promise<T> {
    return pool.run(task, { client: rateKey(address), ...(isGone && { isGone }) }) as Promise<T>
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
  }
}

function costOf(hash: string): number {
  return Number(/^\$2[aby]\$(\d\d)\$/.exec(hash)?.[1])
}
