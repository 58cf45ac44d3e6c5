/** Those who wait for new entries. While there are any, the database is looked at when woken, and once a second. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Log } from '../log/logger.ts'

export interface Watch {
  /** `waiter.wake` is called when there are entries after its position, until it is removed. */
  add(waiter: Waiter): void
  remove(waiter: Waiter): void
  /** Looks now, or shortly after the last look. */
  lookSoon(): void
  count(): number
  /** Wakes all of them. */
  close(): void
  isClosed(): boolean
}

export interface Waiter {
  /** Its position. It may move it on when woken, and wait for more. */
  after: number
  /** Must not throw. */
  wake(): void
}

export interface WatchOptions {
  look(): Promise<unknown>
  /** The position as of the last look. */
  last(): number
  /** There are entries that may be read once a transaction has ended. */
  isHeldBack(): boolean
  log: Log
}

/** In case a wake-up was lost, and for entries of other programs, such as an import. */
const slowLookMs = 1000
/** Under load, entries of so long are read and passed on together. */
const minGatherMs = 20
const maxGatherMs = 100
/** About ten times as long as it takes to pass a page on, so that under load a tenth of the time is spent on that. */
const gatherMsPerReader = 0.1
const maxHeldBackMs = 200
/** Other work has its turn after so long. */
const passingMs = 5
const wokenPerCheck = 32

export function createWatch({ look, last, isHeldBack, log }: WatchOptions): Watch {
  const waiters = new Set<Waiter>()
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let isLooking = false
  let isWoken = false
  let gatherMs = minGatherMs
  let heldBackMs = minGatherMs
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
    await passOn()
    isLooking = false
    scheduleNext()
  }

  async function passOn(): Promise<void> {
    const position = last()
    let startedAt = performance.now()
    let woken = 0
    // Those who join meanwhile are after it already.
    for (const waiter of waiters) {
      if (waiter.after >= position) continue
      waiter.wake()
      woken += 1
      if (woken % wokenPerCheck > 0 || performance.now() - startedAt < passingMs) continue
      await yieldToEventLoop()
      startedAt = performance.now()
    }
    if (woken > 0) gatherMs = Math.min(Math.max(minGatherMs, gatherMsPerReader * woken), maxGatherMs)
  }

  const gatherLeft = () => Math.max(0, lookedAt + gatherMs - performance.now())

  function scheduleNext(): void {
    heldBackMs = isHeldBack() ? Math.min(2 * heldBackMs, maxHeldBackMs) : minGatherMs
    if (waiters.size > 0) scheduleLook()
  }

  function scheduleLook(): void {
    if (isWoken) schedule(gatherLeft())
    else schedule(isHeldBack() ? heldBackMs : slowLookMs)
  }

  return {
    add(waiter) {
      waiters.add(waiter)
      // Entries may have come since the caller has read.
      scheduleLook()
    },

    remove: (waiter) => void waiters.delete(waiter),

    lookSoon() {
      isWoken = true
      if (waiters.size > 0) schedule(gatherLeft())
    },

    count: () => waiters.size,

    close() {
      isClosed = true
      clearTimeout(timer)
      for (const waiter of [...waiters]) waiter.wake()
    },

    isClosed: () => isClosed,
  }
}
