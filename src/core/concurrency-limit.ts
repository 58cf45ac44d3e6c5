export interface ConcurrencyLimitOptions {
  atOnce: number
  maxWaiting: number
  /** Creates the error for calls beyond `maxWaiting`. */
  refusal(): Error
}

/** Runs at most `atOnce` functions at a time; further calls wait in order. */
export function createConcurrencyLimit({
  atOnce,
  maxWaiting,
  refusal,
}: ConcurrencyLimitOptions): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
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
}
