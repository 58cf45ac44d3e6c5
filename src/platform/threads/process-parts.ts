/** What the serving threads of a process have in common. */
import { systemRandom } from '../../core/random.ts'
import type { ChannelParts } from '../bus/thread-channel.ts'
import type { SqliteShare, SqliteThreads } from '../database/sqlite/threads.ts'
import { createLimitsPerAddress, type LimitPerAddress, type LimitSlots } from '../limiter/connections-per-address.ts'
import { createRateCounts, type RateCounts } from '../limiter/rate-counts.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { RecentFigures } from '../metrics/recent-requests.ts'
import { createHashPool, type HashPool } from '../passwords/hash-pool.ts'
import type { Pulse } from './pulse.ts'
import type { SharedSlotsMemory } from './shared-slots.ts'

export interface ProcessParts {
  /** Unique for each start, and the same in all threads. */
  readonly nodeId: string
  readonly rateCounts: RateCounts
  readonly limitPerAddress: LimitPerAddress
  openHashPool(): HashPool
  /** Returns true to the first thread that asks, so that one of them logs what is true of all. */
  claimOnce(name: ClaimName): boolean
  /** Undefined if the process has one serving thread. */
  openChannel?(name: ChannelName): ChannelParts
  /** Undefined if this thread has the database to itself. */
  readonly database?: SharedDatabase
  /** One thread of a process does the background work. */
  readonly doesBackgroundWork: boolean
  /** The metrics of all threads. */
  metricsOf(own: Metrics): Pick<Metrics, 'collect' | 'print'>
  /** The requests of the last hour, of each thread. */
  recentRequestsOf(own: Metrics): ReadRecentRequests
}

export type ReadRecentRequests = () => Promise<readonly RecentFigures[]>

const claimNames = ['untrusted-proxy', 'changing-sql-text'] as const
export type ClaimName = (typeof claimNames)[number]
export const claimBytes = claimNames.length * Int32Array.BYTES_PER_ELEMENT

export function createClaims(memory: SharedArrayBuffer): ProcessParts['claimOnce'] {
  const cells = new Int32Array(memory)
  return (name) => Atomics.exchange(cells, claimNames.indexOf(name), 1) === 0
}

export type ChannelName = 'nodes' | 'topics'

/** Opened and migrated by another thread. */
export interface SharedDatabase {
  /** This thread's part of the connections to PostgreSQL. */
  poolSize: number
  connectThreads?: () => SqliteThreads
}

/** For a process with one serving thread. */
export function createOwnParts(): ProcessParts {
  return {
    nodeId: systemRandom.id(),
    rateCounts: createRateCounts(),
    limitPerAddress: createLimitsPerAddress(),
    openHashPool: createHashPool,
    claimOnce: createClaims(new SharedArrayBuffer(claimBytes)),
    doesBackgroundWork: true,
    metricsOf: (own) => own,
    recentRequestsOf: (own) => async () => [own.recent.read()],
  }
}

/** What a serving thread is started with. */
export interface ThreadShare {
  /** From 0. Thread 0 does the background work. */
  index: number
  /** Unique in this program, because tests start several services in one. */
  serviceId: string
  poolSize: number
  slots: Record<keyof LimitSlots, SharedSlotsMemory>
  /** Set by the thread while it serves. */
  pulse: Pulse
  /** What was claimed: see ProcessParts. */
  claims: SharedArrayBuffer
  /** How many values were sent, by channel. */
  sent: Record<ChannelName, BigInt64Array<SharedArrayBuffer>>
  sqlite: SqliteShare | undefined
}
