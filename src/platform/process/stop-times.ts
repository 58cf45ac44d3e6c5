import { flushCompileCache } from 'node:module'

/**
 * How long the parts of a stop may take. Docker sends SIGKILL ten seconds after SIGTERM, so a stop with a drain of up to
 * three seconds ends before that, whatever clients do.
 */
export interface StopTimes {
  /** Everything is served, but the node reports that it is not ready and asks clients to close their connections. */
  drainMs: number
  /** The listener is closed when no connection has come for so long. */
  quietMs: number
  /** From here on, times count from the moment the listener is closed. Open connections are served for so long. */
  lingerMs: number
  /** Sockets are closed one after the other over this time, so that their clients do not reconnect all at once. */
  spreadMs: number
  /** For requests that have not arrived completely. */
  halfSentMs: number
  /** For requests in flight. */
  requestsMs: number
  /** The whole stop, from the signal on. */
  totalMs: number
}

const withinMs = 8500
const minRequestsMs = 5000
/** For what follows the last request, such as closing the database. */
const restMs = 1200

export function stopTimesOf(drainSeconds: number): StopTimes {
  const drainMs = drainSeconds * 1000
  const requestsMs = Math.max(withinMs - drainMs, minRequestsMs)
  // Without a drain there is no proxy that has to notice anything.
  const isBehindProxy = drainMs > 0
  return {
    drainMs,
    quietMs: isBehindProxy ? 50 : 0,
    lingerMs: isBehindProxy ? 500 : 0,
    spreadMs: isBehindProxy ? 1000 : 0,
    halfSentMs: 1000,
    requestsMs,
    totalMs: drainMs + requestsMs + restMs,
  }
}

/**
 * For each thread, when it has loaded everything. Otherwise Node writes the compile cache at exit, which after a first start
 * takes as long as the rest of a stop may take. Without a drain, as in development, the first requests come first.
 */
export function keepStopShort({ drainSeconds }: { drainSeconds: number }): void {
  if (drainSeconds > 0) flushCompileCache()
  else setTimeout(flushCompileCache, flushAfterMs).unref()
}

const flushAfterMs = 1000
