/** The only place that reads the system time. Everything else takes a Clock, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** ISO 8601 in UTC, as stored in the database. */
  nowIso(): string
  /** Whole seconds, rounded down, as in JWT claims. */
  nowSeconds(): number
}

export function createClock(now: () => number): Clock {
  return {
    now,
    nowIso: () => new Date(now()).toISOString(),
    nowSeconds: () => Math.floor(now() / 1000),
  }
}

export const systemClock: Clock = createClock(() => Date.now())

/** A clock that tests move in all threads of a process at once: a steady one, plus milliseconds in shared memory. */
export function createSharedClock(memory: SharedArrayBuffer): Clock {
  const offset = new Float64Array(memory)
  return createClock(() => Math.floor(steadyNow() + (offset[0] as number)))
}

/** Milliseconds since 1970 that never step back, as Date.now() may. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now()
}
