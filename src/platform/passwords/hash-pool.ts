/**
 * Computes bcrypt hashes. One takes a quarter of a second of CPU time, so they run on low-priority threads, which client
 * addresses share fairly: a flood of logins from one address does not delay the others. A process has one pool.
 */
import { availableParallelism } from 'node:os'
import type { Piscina } from 'piscina'
import { serviceUnavailable } from '../../core/app-error.ts'
import { clientGone } from '../../core/current-client.ts'
import { createFairQueue } from '../../core/fair-queue.ts'
import { cachingModule, toDataUrl } from '../threads/thread.ts'
import type { Task } from './bcrypt-thread.ts'

export interface HashTicket {
  /** Clients are served in turn. */
  client: string
  /** Nothing is computed for a client that has disconnected. */
  isGone?(): boolean
}

export interface HashPool {
  /** Comparisons are served before new hashes. */
  run(task: Task, ticket: HashTicket): Promise<string | boolean>
  /** Hashes being computed, and those that wait for a thread. */
  load(): HashLoad | Promise<HashLoad>
  close(): Promise<void>
}

export type HashLoad = Record<'running' | 'waiting', number>

const maxPerClient = 256
const maxWaiting = 4096
const lowPriority = 10
const maxThreads = availableParallelism()

/** Shared by the services of a process, of which tests start many. Idle threads do not keep the process alive. */
let pool: Promise<Piscina> | undefined

export function createHashPool(): HashPool {
  const queue = createFairQueue({
    atOnce: maxThreads,
    maxPerClient,
    maxWaiting,
    full: () => serviceUnavailable(),
    gone: clientGone,
  })

  return {
    run: (task, ticket) =>
      queue.run({ ...ticket, isUrgent: task.kind === 'verify' }, async () => {
        pool ??= openThreads()
        return (await pool).run(task)
      }),
    load: () => ({ running: queue.running(), waiting: queue.counts().waiting }),
    // By now the clients of waiting tasks have been disconnected.
    async close() {
      queue.close()
    },
  }
}

/** With the first hash: a service that is not logged in to does without 10 MB. From then on, one thread is kept. */
async function openThreads(): Promise<Piscina> {
  const { Piscina } = await import('piscina')
  const file = new URL('./bcrypt-thread.ts', import.meta.url)
  const caching = cachingModule(file)
  return new Piscina({
    filename: file.href,
    name: 'runTask',
    minThreads: 1,
    maxThreads,
    idleTimeout: 30_000,
    niceIncrement: lowPriority,
    // With Atomics, idle threads would spin between tasks.
    atomics: 'disabled',
    ...(caching !== undefined && { execArgv: ['--import', toDataUrl(caching)] }),
  })
}
