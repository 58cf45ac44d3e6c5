import { setFlagsFromString } from 'node:v8'

const maxUptimeSeconds = 6
const noReduction = '--memory-reducer-gc-count=0'

/**
 * The flags of all threads that are started after `keepHeapSteady`. Node has a compile cache for each set of flags, so the one
 * that `compactHeap` needs is set with the others: see deploy/image/compile-sources.ts.
 */
export const servingFlags = [
  '--heap-growing-percent=50',
  '--memory-pool-timeout=1',
  '--no-allocation-site-pretenuring',
  '--expose-gc',
  noReduction,
]

/**
 * For the serving process; called by the commands, because flags are process-wide and not for an embedded service to set.
 * V8 grows a small heap in small steps, smaller still after half a minute without load. Long responses then cause several
 * collections per second, on threads that compete with the event loop: with few cores, requests wait up to 20 ms. Larger
 * steps make collections rare. Pages that a collection freed are returned after a second instead of eight. Pretenuring is
 * off: under load the objects of a request often outlive a collection, so V8 would allocate their like in the old generation.
 */
export function keepHeapSteady(): void {
  // V8 aborts if it has already started a memory reduction with the old value, which happens after eight seconds at least.
  const isEarly = process.uptime() < maxUptimeSeconds
  // V8 reads these flags when it collects, so they can be set at run time.
  for (const flag of servingFlags) if (isEarly || flag !== noReduction) setFlagsFromString(flag)
}
