export interface BatchesOptions<Item, Result> {
  /** Resolves to one result for each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Result[]>
  maxItems: number
  sizeOf(item: Item): number
  /** A single item may be larger; it then runs alone. */
  maxSize: number
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/** Runs one batch at a time, in order. Items that arrive while a batch runs form the next one. */
export function createBatches<Item, Result>({
  run,
  maxItems,
  sizeOf,
  maxSize,
}: BatchesOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  function take(): Waiting<Item, Result>[] {
    let count = 0
    let size = 0
    for (const { item } of waiting) {
      size += sizeOf(item)
      if (count === maxItems || (count > 0 && size > maxSize)) break
      count += 1
    }
    return waiting.splice(0, count)
  }

  async function runAll(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = take()
      try {
        const results = await run(batch.map(({ item }) => item))
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isRunning) void runAll()
    })
}
