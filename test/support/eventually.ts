import { setTimeout as sleep } from 'node:timers/promises'

/** Tries an assertion until it holds, or throws what it last threw. */
export async function eventually(check: () => unknown, withinMs = 5000): Promise<void> {
  for (const end = performance.now() + withinMs; ; ) {
    try {
      await check()
      return
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await sleep(10)
  }
}
