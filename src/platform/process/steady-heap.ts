/** V8's heap in the serving process. Called by the commands: flags are process-wide and not for an embedded service to set. */
import { flushCompileCache } from 'node:module'
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * V8 grows a small heap in small steps, smaller still after half a minute without load. Long responses then cause several
 * collections per second, on threads that compete with the event loop: with few cores, requests wait up to 20 ms. Larger
 * steps make collections rare. Pages that a collection freed are returned after a second instead of eight. Pretenuring is
 * off: under load the objects of a request often outlive a collection, so V8 would allocate their like in the old generation.
 */
const servingFlags = ['--heap-growing-percent=50', '--memory-pool-timeout=1', '--no-allocation-site-pretenuring']

const maxUptimeSeconds = 6
const noReduction = '--memory-reducer-gc-count=0'

const settleMs = 2000
const idleCheckMs = 1000
const maxChecks = 60
const idleUtilization = 0.05

/**
 * Call once everything is loaded. V8 accepts compiled code only under the flags it was compiled with, and that holds for the
 * code in Node's binary too: with other flags from the beginning, each thread takes 40 ms longer to start.
 */
export function keepHeapSteady(): void {
  setTimeout(() => {
    flushCompileCache()
    for (const flag of servingFlags) setFlagsFromString(flag)
    // V8 aborts if it has already started a memory reduction with the old value, which happens after eight seconds at least.
    if (process.uptime() < maxUptimeSeconds) setFlagsFromString(noReduction)
  }, settleMs).unref()
}

/**
 * Collects the garbage of the start and returns its memory to the operating system, which V8 would keep for later. It takes
 * a twentieth of a second, so it waits until nobody is served. A thread that is never idle collects its garbage anyway.
 */
export function compactHeapWhenIdle(): void {
  let last = performance.eventLoopUtilization()
  let checks = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    checks += 1
    const isEarly = checks * idleCheckMs <= settleMs
    if (isEarly || (utilization > idleUtilization && checks < maxChecks)) return
    clearInterval(timer)
    if (utilization <= idleUtilization) compactHeap()
  }, idleCheckMs).unref()
}

function compactHeap(): void {
  // Of the process, and not taken back: several threads may be here at once.
  setFlagsFromString('--expose-gc')
  // Only contexts made after the flag was set have the function.
  const collect = runInNewContext('gc') as NonNullable<typeof gc>
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
