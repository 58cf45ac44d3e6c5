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
