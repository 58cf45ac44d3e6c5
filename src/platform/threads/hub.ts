/** The side of the main thread: owns what the serving threads share, and answers their calls. */
import type { MessagePort } from 'node:worker_threads'
import type { AppError } from '../../core/app-error.ts'
import { type Consumed, type Counted, createRateCounts, type Rate } from '../limiter/rate-counts.ts'
import type { MetricObject, Metrics } from '../metrics/metrics.ts'
import type { RecentFigures } from '../metrics/recent-requests.ts'
import type { Task } from '../passwords/bcrypt-thread.ts'
import { createHashPool, type HashLoad } from '../passwords/hash-pool.ts'

/** What serving threads may call. */
export type HubMethods = {
  consume(call: { name: string; rate: Rate; key: string; weight: number }): Promise<Consumed>
  raise(call: { name: string; rate: Rate; key: string; counted: Counted }): void
  hash(call: HashCall): Promise<HashOutcome>
  /** The client of a waiting task has disconnected. */
  forgetHash(id: number): void
  hashLoad(none: undefined): Promise<HashLoad>
  connectScanner(none: undefined): MessagePort
  collectMetrics(none: undefined): Promise<MetricObject[]>
  printMetrics(none: undefined): Promise<string>
  readRecentRequests(none: undefined): Promise<readonly RecentFigures[]>
  log(lines: readonly string[]): void
}

export interface HashCall {
  /** Unique among the tasks of its thread. */
  id: number
  task: Task
  client: string
}

/** The status of the error if it was refused. */
export type HashOutcome = { value: string | boolean } | { status: number }

export interface HubOptions {
  connectScanner(): MessagePort
  /** Of all threads. */
  mergeMetrics(): Promise<Pick<Metrics, 'collect' | 'print'>>
  /** Of each thread. */
  readRecentRequests(): Promise<readonly RecentFigures[]>
  log(lines: readonly string[]): void
}

export interface Hub {
  /** The methods for one serving thread. */
  methods(): HubMethods
  close(): Promise<void>
}

export function createHub({ connectScanner, mergeMetrics, readRecentRequests, log }: HubOptions): Hub {
  const counts = createRateCounts()
  const hashPool = createHashPool()

  function methods(): HubMethods {
    const gone = new Set<number>()
    return {
      consume: ({ name, rate, key, weight }) => counts.of(name, rate).consume(key, weight),
      raise: ({ name, rate, key, counted }) => counts.of(name, rate).raise(key, counted),
      async hash({ id, task, client }) {
        try {
          return { value: await hashPool.run(task, { client, isGone: () => gone.has(id) }) }
        } catch (error) {
          const { status } = error as Partial<AppError>
          if (status === undefined) throw error
          return { status }
        } finally {
          gone.delete(id)
        }
      },
      hashLoad: async () => hashPool.load(),
      forgetHash: (id) => void gone.add(id),
      connectScanner,
      collectMetrics: async () => (await mergeMetrics()).collect(),
      printMetrics: async () => (await mergeMetrics()).print(),
      readRecentRequests,
      log,
    }
  }

  return { methods, close: () => hashPool.close() }
}
