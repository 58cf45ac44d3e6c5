/**
 * One node at a time works for a name. It holds a lease in the database, which another may take once it has not been
 * extended for a while: a node that crashed has lost it then. Clocks of nodes are expected to agree to a few seconds.
 */
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

/** Runs `work` with the position of the consumer, if nobody else holds the lease. Its signal is aborted if that is lost. */
export async function withLease(
  { name, holder, store, clock }: LeaseOptions,
  stop: AbortSignal,
  work: (position: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lease = { name, holder }
  const hold = () => store.hold(lease, { now: clock.now(), until: clock.now() + leaseMs })
  const position = await hold()
  if (position === undefined) return
  const lost = new AbortController()
  const extension = setInterval(() => {
    hold().then(
      (held) => held === undefined && lost.abort(),
      // It stays valid for a while; the next attempt may succeed.
      () => {},
    )
  }, extendEveryMs).unref()
  try {
    await work(position, AbortSignal.any([stop, lost.signal]))
  } finally {
    clearInterval(extension)
    if (!lost.signal.aborted) await store.release(lease)
  }
}
