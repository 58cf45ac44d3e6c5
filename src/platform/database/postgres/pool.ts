/** A pool of connections. Unlike the driver's own, it can open them on several hosts, and close those of one host. */

import { startPeriodicTask } from '../../../core/periodic-task.ts'
import type { PostgresHost } from '../../../core/postgres-url.ts'
import { type Connection, streamOf } from './client.ts'

export interface PoolOptions<Waiter> {
  size: number
  /** Those who wait for a connection, in order. The pool removes them. */
  waiting: Set<Waiter>
  open(): Promise<Connection>
  /** An idle connection was closed by the server. */
  onLost(error: Error): void
}

/** Waits for a connection. */
export interface PoolWaiter {
  onConnection(connection: Connection): void
  onError(error: unknown): void
}

interface Idle {
  connection: Connection
  since: number
}

const maxIdleMs = 60_000
const sweepEveryMs = 10_000

export function createPool<Waiter extends PoolWaiter>({ size, waiting, open, onLost }: PoolOptions<Waiter>) {
  const all = new Set<Connection>()
  /** The most recently used last; the others may become superfluous. */
  const idle: Idle[] = []
  /** To be closed when they are released. */
  const outdated = new WeakSet<Connection>()
  let opening = 0
  let isEnded = false
  const sweeps = startPeriodicTask({ everyMs: sweepEveryMs, work: closeSuperfluous, onError() {} })

  /** Calls the waiter at once if a connection is idle. */
  function acquire(waiter: Waiter): void {
    const last = idle.pop()
    if (last) {
      waiter.onConnection(last.connection)
      return
    }
    waiting.add(waiter)
    openMissing()
  }

  function openMissing(): void {
    while (!isEnded && opening < waiting.size && all.size + opening < size) {
      opening += 1
      open().then(onOpened, onFailed)
    }
  }

  function onOpened(connection: Connection): void {
    opening -= 1
    all.add(connection)
    connection.client.on('error', (error) => removeBroken(connection, error))
    release(connection, true)
  }

  function onFailed(error: unknown): void {
    opening -= 1
    takeFirst()?.onError(error)
    openMissing()
  }

  function takeFirst(): Waiter | undefined {
    const [first] = waiting
    if (first) waiting.delete(first)
    return first
  }

  function release(connection: Connection, isUsable: boolean): void {
    if (!isUsable || isEnded || outdated.has(connection) || streamOf(connection.client).destroyed) {
      discard(connection)
      openMissing()
      return
    }
    const first = takeFirst()
    if (first) first.onConnection(connection)
    else idle.push({ connection, since: performance.now() })
  }

  function discard(connection: Connection): void {
    all.delete(connection)
    connection.client.end().catch(ignore)
  }

  /** One that is in use fails its query instead. */
  function removeBroken(connection: Connection, error: Error): void {
    if (closeIdle((each) => each.connection === connection) > 0) onLost(error)
  }

  async function closeSuperfluous(): Promise<void> {
    const before = performance.now() - maxIdleMs
    closeIdle(({ since }) => since < before)
  }

  function closeIdle(isChosen: (each: Idle) => boolean): number {
    const chosen = idle.filter(isChosen)
    for (const each of chosen) {
      idle.splice(idle.indexOf(each), 1)
      discard(each.connection)
    }
    return chosen.length
  }

  return {
    acquire,
    release,
    load: () => ({ in_use: all.size - idle.length, idle: idle.length }),
    /** Closes all connections to the host: the idle ones now, the others when they are released. */
    dropHost(host: PostgresHost): void {
      for (const connection of all) if (connection.host === host) outdated.add(connection)
      closeIdle(({ connection }) => connection.host === host)
    },
    async end(): Promise<void> {
      isEnded = true
      for (const waiter of waiting) waiter.onError(new Error('the pool is closed'))
      waiting.clear()
      closeIdle(() => true)
      await sweeps.close()
    },
  }
}

const ignore = () => {}
