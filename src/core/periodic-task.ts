export interface PeriodicTaskOptions {
  everyMs: number
  work(): Promise<unknown>
  onError(error: unknown): void
}

/** Runs `work` periodically, never twice at once. Closing waits for a run in progress. */
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
