import { type Clock, createClock, systemClock } from '../core/clock.ts'

/** A running clock that can be advanced. */
export interface MovableClock extends Clock {
  advance(seconds: number): void
}

/** TOTP codes change every 30 seconds. A clock that starts with a period keeps a short test within it. */
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
