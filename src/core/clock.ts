/** The one place that asks the machine for the time. Everything else is handed a Clock, so tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** The same in ISO 8601, UTC, as the database keeps it. */
  nowIso(): string
  /** The same in whole seconds, rounded down, as JWTs carry it. */
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
