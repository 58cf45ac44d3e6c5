import { setFlagsFromString } from 'node:v8'

const maxUptimeSeconds = 6

/**
 * For a process that serves; it is the process's to set, not that of who embeds the service. V8 lets a small heap grow by little before it collects garbage again, and by less still
 * after half a quiet minute. Long answers then make it collect several times a second, on threads that take turns with
 * the event loop: where cores are few, a request waits for up to 20 ms. With more room it happens once in a while.
 */
export function keepHeapSteady(): void {
  // Both are read at each collection, so they can still be set when the process runs.
  setFlagsFromString('--heap-growing-percent=200')
  // V8 aborts where it has already begun to reduce the heap under the old limit, which takes it eight seconds at least.
  if (process.uptime() < maxUptimeSeconds) setFlagsFromString('--memory-reducer-gc-count=0')
}
