import { availableParallelism } from 'node:os'
import type { Log } from '../../platform/log/logger.ts'

/** One for long reads, and one for everything else. */
const minConnections = 2

/** The connections to PostgreSQL of each thread, of a pool that they share. */
export function connectionsPerThread(poolSize: number, threads: number): number {
  return threads === 1 ? poolSize : Math.max(minConnections, Math.floor(poolSize / threads))
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
