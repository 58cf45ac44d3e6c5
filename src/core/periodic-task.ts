export interface PeriodicTaskOptions {
  everyMs: number
  work(): Promise<unknown>
  onError(error: unknown): void
}

/** Does something over and over in the background, never twice at once. Closing waits for what is under way. */
export function startPeriodicTask({ everyMs, work, onError }: PeriodicTaskOptions): { close(): Promise<void> } {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= run().finally(() => (underWay = undefined))
  }, everyMs).unref()

  async function run(): Promise<void> {
    try {
      await work()
    } catch (error) {
      onError(error)
    }
  }

  return {
    async close() {
      clearInterval(timer)
      await underWay
    },
  }
}
