export interface ConcurrencyLimitOptions {
  atOnce: number
  maxWaiting: number
  /** What whoever comes after those is told. */
  refusal(): Error
}

/** Lets a few run at once. The others wait for their turn, in their order. */
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
      // The next one takes the place over.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
