import { type Clock, createClock, systemClock } from '../core/clock.ts'

/** A clock that goes on by itself, and can be moved. */
export interface MovableClock extends Clock {
  advance(seconds: number): void
}

/** Codes of a second factor hold for thirty seconds. Begun with such a period, a test is over before the next. */
const periodMs = 30_000

export interface Beginning {
  at: number
  startedAt: number
}

export function beginNow(): Beginning {
  const now = systemClock.now()
  return { at: now - (now % periodMs), startedAt: performance.now() }
}

export function createMovableClock({ at, startedAt }: Beginning = beginNow()): MovableClock {
  let now = at
  const clock = createClock(() => Math.floor(now + performance.now() - startedAt))
  return {
    ...clock,
    advance(seconds) {
      now += seconds * 1000
    },
  }
}
