/** Those who wait for new entries. While there are any, the database is looked at when woken, and once a second. */
import type { Log } from '../log/logger.ts'

export interface Watch {
  wait(after: number, signal: AbortSignal): Promise<void>
  /** Looks now, or shortly after the last look. */
  lookSoon(): void
  count(): number
  /** Lets all of them go. */
  close(): void
}

export interface WatchOptions {
  look(): Promise<number>
  /** The position as of the last look. */
  last(): number
  /** There are entries that may be read once a transaction has ended. */
  isHeldBack(): boolean
  log: Log
}

interface Waiter {
  after: number
  leave(): void
}

/** In case a wake-up was lost, and for entries of other programs, such as an import. */
const slowLookMs = 1000
/** Under load, entries of so long are read and passed on together. */
const gatherMs = 20
const maxHeldBackMs = 200

export function createWatch({ look, last, isHeldBack, log }: WatchOptions): Watch {
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let isLooking = false
  let isWoken = false
  let heldBackMs = gatherMs
  let isClosed = false

  function schedule(ms: number): void {
    const at = performance.now() + ms
    if (isLooking || isClosed || at >= dueAt) return
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(() => void lookNow(), ms).unref()
  }

  async function lookNow(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY
    isLooking = true
    isWoken = false
    lookedAt = performance.now()
    try {
      await look()
    } catch (error) {
      // The database is away, which others report too.
      log.debug({ err: error }, 'the change log could not be read')
    }
    isLooking = false
    const position = last()
    for (const waiter of [...waiters]) if (waiter.after < position) waiter.leave()
    scheduleNext()
  }

  const gatherLeft = () => Math.max(0, lookedAt + gatherMs - performance.now())

  function scheduleNext(): void {
    heldBackMs = isHeldBack() ? Math.min(2 * heldBackMs, maxHeldBackMs) : gatherMs
    if (waiters.size === 0) return
    if (isWoken) schedule(gatherLeft())
    else schedule(isHeldBack() ? heldBackMs : slowLookMs)
  }

  return {
    wait(after, signal) {
      if (signal.aborted || isClosed || last() > after) return Promise.resolve()
      return new Promise((resolve) => {
        const waiter: Waiter = {
          after,
          leave() {
            waiters.delete(waiter)
            signal.removeEventListener('abort', waiter.leave)
            resolve()
          },
        }
        waiters.add(waiter)
        signal.addEventListener('abort', waiter.leave)
        // Entries may have come since the caller has read.
        if (isWoken) schedule(gatherLeft())
        else schedule(isHeldBack() ? heldBackMs : slowLookMs)
      })
    },

    lookSoon() {
      isWoken = true
      if (waiters.size > 0) schedule(gatherLeft())
    },

    count: () => waiters.size,

    close() {
      isClosed = true
      clearTimeout(timer)
      for (const waiter of [...waiters]) waiter.leave()
    },
  }
}
