import { setTimeout as sleep } from 'node:timers/promises'

/** Tries an assertion until it holds, and answers what it answers; or throws what it last threw. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 15_000): Promise<T> {
  for (const end = performance.now() + withinMs; ; ) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await sleep(10)
  }
}
