import { setTimeout as sleep } from 'node:timers/promises'

/** On a machine that has other things to do the time may be over before anybody had a turn. */
const minAttempts = 40

/** Tries an assertion until it holds, and answers what it answers; or throws what it last threw. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 15_000): Promise<T> {
  const end = performance.now() + withinMs
  for (let attempt = 1; ; attempt++) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > end && attempt >= minAttempts) throw error
    }
    await sleep(10)
  }
}
