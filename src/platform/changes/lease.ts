/**
 * One node at a time works for a name. It holds a lease in the database, which another may take once it has not been
 * extended for a while: a node that crashed has lost it then. Clocks of nodes are expected to agree to a few seconds.
 */
import { type Alarm, createAlarm } from '../../core/alarm.ts'
import type { Clock } from '../../core/clock.ts'
import type { ConsumerStore } from './consumers.store.ts'

export interface LeaseOptions {
  name: string
  /** Unique for each start of a node. */
  holder: string
  store: ConsumerStore
  clock: Clock
}

const leaseMs = 15_000
const extendEveryMs = 5000
/** If it could not be extended for so long, it counts as lost: shortly before another node may take it. */
const validMs = 12_000
/** How often those who do not hold the lease ask for it. */
const askEveryMs = 2000
/** How often it is looked at whether the lease is needed, in case a wake-up was lost. */
const lookEveryMs = 10_000

export interface LeasedWork extends LeaseOptions {
  /** Where a new consumer begins. */
  begin(): number | Promise<number>
  /** Its signal is aborted if the lease is lost. */
  work(position: number, signal: AbortSignal): Promise<void>
  onError(error: unknown): void
  /** While there is nothing to do, the lease is neither asked for nor held, so that an idle service writes nothing. */
  isNeeded?(): Promise<boolean>
  /** Rung when it may be needed, or when another node has released the lease. */
  alarm?: Alarm
  onReleased?(): void
}

/** Works whenever it gets the lease, until `stop` is aborted. After an error it goes on shortly. */
export async function workUnderLease(options: LeasedWork, stop: AbortSignal): Promise<void> {
  const { name, store, begin, onError, isNeeded = async () => true, alarm = createAlarm() } = options
  let isRegistered = false
  while (!stop.aborted) {
    let waitMs = askEveryMs
    try {
      if (!(await isNeeded())) waitMs = lookEveryMs
      else {
        if (!isRegistered) await store.register(name, await begin())
        isRegistered = true
        await withLease(options, stop)
      }
    } catch (error) {
      onError(error)
    }
    await alarm.wait(waitMs, stop)
  }
}

/** Works if nobody else holds the lease. */
async function withLease({ name, holder, store, clock, work, onReleased }: LeasedWork, stop: AbortSignal) {
  const lease = { name, holder }
  const lost = new AbortController()
  let expiry: NodeJS.Timeout | undefined

  async function hold(): Promise<number | undefined> {
    const askedAt = performance.now()
    const position = await store.hold(lease, { now: clock.now(), until: clock.now() + leaseMs })
    clearTimeout(expiry)
    if (position === undefined) lost.abort()
    else expiry = setTimeout(() => lost.abort(), validMs - (performance.now() - askedAt)).unref()
    return position
  }

  const position = await hold()
  if (position === undefined) return
  let extending: Promise<unknown> = Promise.resolve()
  const extension = setInterval(() => {
    // If it fails, the lease stays valid for a while; the next attempt may succeed.
    extending = extending.then(hold).catch(() => {})
  }, extendEveryMs).unref()
  try {
    await work(position, AbortSignal.any([stop, lost.signal]))
  } finally {
    clearInterval(extension)
    // Otherwise it could be taken again after its release, over another connection.
    await extending
    clearTimeout(expiry)
    if (!lost.signal.aborted) {
      await store.release(lease)
      onReleased?.()
    }
  }
}
