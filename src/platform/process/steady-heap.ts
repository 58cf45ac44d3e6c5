import { setFlagsFromString } from 'node:v8'

const maxUptimeSeconds = 6

/**
 * For the serving process; called by the commands, because flags are process-wide and not for an embedded service to set.
 * V8 grows a small heap in small steps, smaller still after half a minute without load. Long responses then cause several
 * collections per second, on threads that compete with the event loop: with few cores, requests wait up to 20 ms. Larger
 * steps make collections rare.
 */
export function keepHeapSteady(): void {
  // V8 reads both flags at each collection, so they can be set at run time.
  setFlagsFromString('--heap-growing-percent=50')
  // V8 aborts if it has already started a memory reduction with the old value, which happens after eight seconds at least.
  if (process.uptime() < maxUptimeSeconds) setFlagsFromString('--memory-reducer-gc-count=0')
}
