/** A clock that tests move in all threads of a process at once: a steady one, plus milliseconds in shared memory. */
import { type Clock, createClock } from '../../core/clock.ts'

export function createSharedClock(memory: SharedArrayBuffer): Clock {
  const offset = new Float64Array(memory)
  return createClock(() => Math.floor(monotonicNow() + (offset[0] as number)))
}

/** Like Date.now(), which may step back. */
export function monotonicNow(): number {
  return performance.timeOrigin + performance.now()
}
