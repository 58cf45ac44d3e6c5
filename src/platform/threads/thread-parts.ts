/** The side of a serving thread: uses over its port what the main thread owns. */
import { BroadcastChannel } from 'node:worker_threads'
import { serviceUnavailable } from '../../core/app-error.ts'
import { clientGone } from '../../core/current-client.ts'
import { useSqliteThreads } from '../database/sqlite/threads.ts'
import { createLimitsPerAddress } from '../limiter/connections-per-address.ts'
import type { RateCounts } from '../limiter/rate-counts.ts'
import type { HashPool } from '../passwords/hash-pool.ts'
import type { HubMethods } from './hub.ts'
import type { Peer } from './peer.ts'
import { createClaims, type ProcessParts, type ThreadShare } from './process-parts.ts'
import { openSharedSlots } from './shared-slots.ts'

export function createThreadParts(share: ThreadShare, hub: Peer<HubMethods>): ProcessParts {
  const { index, serviceId, poolSize, slots, claims, sent, sqlite } = share
  const connectScanner = () => hub.call('connectScanner', undefined)
  return {
    nodeId: serviceId,
    rateCounts: remoteCounts(hub),
    limitPerAddress: createLimitsPerAddress({
      many: openSharedSlots(slots.many, index),
      single: openSharedSlots(slots.single, index),
    }),
    openHashPool: () => remoteHashPool(hub),
    claimOnce: createClaims(claims),
    openChannel: (name) => ({ channel: new BroadcastChannel(`latchkey:${serviceId}:${name}`), sent: sent[name] }),
    database: { poolSize, ...(sqlite && { connectThreads: () => useSqliteThreads(sqlite, connectScanner) }) },
    doesBackgroundWork: index === 0,
    metricsOf: () => ({
      collect: () => hub.call('collectMetrics', undefined),
      print: () => hub.call('printMetrics', undefined),
    }),
    recentRequestsOf: () => () => hub.call('readRecentRequests', undefined),
  }
}

function remoteCounts(hub: Peer<HubMethods>): RateCounts {
  return {
    of: (name, rate) => ({
      consume: (key, weight) => hub.call('consume', { name, rate, key, weight }),
      // Not the class of the library, which cannot be copied.
      raise: (key, { consumedPoints, msBeforeNext }) =>
        hub.tell('raise', { name, rate, key, counted: { consumedPoints, msBeforeNext } }),
    }),
  }
}

/** Shorter than any hash. */
const checkGoneMs = 50

function remoteHashPool(hub: Peer<HubMethods>): HashPool {
  const waiting = new Map<number, () => boolean>()
  let lastId = 0
  let timer: NodeJS.Timeout | undefined

  /** The main thread cannot see the sockets of this one. */
  function checkGone(): void {
    for (const [id, isGone] of waiting) {
      if (!isGone()) continue
      hub.tell('forgetHash', id)
      waiting.delete(id)
    }
    if (waiting.size === 0) stopTimer()
  }

  function stopTimer(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    async run(task, { client, isGone }) {
      lastId += 1
      const id = lastId
      if (isGone) {
        waiting.set(id, isGone)
        timer ??= setInterval(checkGone, checkGoneMs).unref()
      }
      try {
        const outcome = await hub.call('hash', { id, task, client })
        if ('value' in outcome) return outcome.value
        throw outcome.status === 499 ? clientGone() : serviceUnavailable()
      } finally {
        waiting.delete(id)
      }
    },
    load: () => hub.call('hashLoad', undefined),
    // The pool is the main thread's.
    close: async () => stopTimer(),
  }
}
