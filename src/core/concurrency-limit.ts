export interface ConcurrencyLimitOptions {
  atOnce: number
  maxWaiting: number
  /** Creates the error for calls beyond `maxWaiting`. */
  refusal(): Error
}

export interface ConcurrencyLimit {
  <T>(work: () => Promise<T>): Promise<T>
  /** How many calls wait. */
  waiting(): number
}

/** Runs at most `atOnce` functions at a time; further calls wait in order. */
export function createConcurrencyLimit({ atOnce, maxWaiting, refusal }: ConcurrencyLimitOptions): ConcurrencyLimit {
  const waiting: (() => void)[] = []
  let running = 0

  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) running += 1
    else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => waiting.push(resolve))
    else throw refusal()
    try {
      return await work()
    } finally {
      // The next waiter takes over this slot, so `running` stays as it is.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  return Object.assign(run, { waiting: () => waiting.length })
}
