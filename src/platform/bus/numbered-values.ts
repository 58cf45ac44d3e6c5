/** Hands on values by their numbers, whatever order they arrive in. */

export interface Numbered<Value> {
  /** The number of the first value. */
  first: number
  values: readonly Value[]
}

export interface NumberedValuesOptions<Value> {
  onValues(values: readonly Value[]): void
  /** The number that the next value will get. */
  countSent(): number
  /** Calls `accept` with what has arrived unnoticed. */
  takeArrived(): void
}

interface Waiter {
  /** Waits for all values before this one. */
  to: number
  resolve(): void
}

/** A thread that died after taking a number never sends it. */
const maxGapMs = 1000

export function createNumberedValues<Value>({ onValues, countSent, takeArrived }: NumberedValuesOptions<Value>) {
  const arrived = new Map<number, readonly Value[]>()
  const waiters = new Set<Waiter>()
  // What was sent before has no listener here.
  let next = countSent()
  let gap: { at: number; timer: NodeJS.Timeout } | undefined

  function accept({ first, values }: Numbered<Value>): void {
    // It was given up.
    if (first < next) onValues(values)
    else arrived.set(first, values)
  }

  function handOn(): void {
    if (!arrived.has(next)) takeArrived()
    for (let values = arrived.get(next); values; values = arrived.get(next)) {
      arrived.delete(next)
      next += values.length
      onValues(values)
      if (!arrived.has(next) && arrived.size > 0) takeArrived()
    }
    for (const waiter of waiters) if (waiter.to <= next) finish(waiter)
    watchGap()
  }

  function finish(waiter: Waiter): void {
    waiters.delete(waiter)
    waiter.resolve()
  }

  /** The time counts from the last value that was handed on, not from the last that arrived. */
  function watchGap(): void {
    const isWaiting = arrived.size > 0 || waiters.size > 0
    if (isWaiting && gap?.at === next) return
    clearTimeout(gap?.timer)
    gap = isWaiting ? { at: next, timer: setTimeout(giveUp, maxGapMs).unref() } : undefined
  }

  function giveUp(): void {
    gap = undefined
    takeArrived()
    if (!arrived.has(next)) next = arrived.size > 0 ? Math.min(...arrived.keys()) : countSent()
    handOn()
  }

  return {
    accept,
    handOn,
    /** For values that were sent before: undefined if all of them have been handed on. */
    catchUp(): Promise<void> | undefined {
      const to = countSent()
      if (next < to) handOn()
      if (next >= to) return undefined
      return new Promise((resolve) => {
        waiters.add({ to, resolve })
        watchGap()
      })
    },
    close(): void {
      clearTimeout(gap?.timer)
      for (const waiter of waiters) finish(waiter)
    },
  }
}
