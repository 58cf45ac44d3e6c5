import { availableParallelism } from 'node:os'
import type { Log } from '../../platform/log/logger.ts'

const defaultPoolSize = 10
/** One for long reads, and one for everything else. */
const wantedConnections = 2

/** The connections to PostgreSQL of each thread. `configured` is database.pool_size, which the threads share. */
export function connectionsPerThread(configured: number | undefined, threads: number): number {
  const poolSize = configured ?? Math.max(defaultPoolSize, wantedConnections * threads)
  return Math.max(1, Math.floor(poolSize / threads))
}

/** Logs that a search holds up everything else of a thread. `poolSize` is that of each. */
export function warnOfSmallPool(poolSize: number, threads: number, log: Log): void {
  if (poolSize >= wantedConnections) return
  const wanted = wantedConnections * threads
  log.warn({ threads, wanted }, 'database.pool_size is less than two for each thread: a search delays other requests')
}

/** `configured` is server.threads. */
export function countServingThreads(configured: number, log?: Log): number {
  if (configured === 1) return 1
  // The kernel must share the connections to one port out to the threads.
  if (process.platform !== 'linux') {
    if (configured > 1) log?.warn({ platform: process.platform }, 'server.threads needs Linux: one thread serves')
    return 1
  }
  return configured === 0 ? availableParallelism() : configured
}
