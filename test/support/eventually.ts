import { setTimeout as sleep } from 'node:timers/promises'

/** Generous, because a busy machine may not get to the work in time. */
const minAttempts = 40

/**
 * For what must come by a message: less than the ten seconds after which open connections are checked anyway, and far more
 * than a message takes on a busy machine.
 */
export const byMessageMs = 6000

/** Retries an assertion until it passes and returns its result, or throws its last error. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const end = performance.now() + withinMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end && attempt >= minAttempts) throw error
    }
    // Less and less often: many checks are requests, which keep the service busy that they wait for.
    await sleep(Math.min(10 + attempt, 100))
  }
}
