/**
 * Rejects where a promise takes longer than `ms`, measured fairly: the time is counted in slices, each of which lets the
 * event loop read what has arrived. An event loop that stood still for ten seconds has waited one slice, so an answer
 * that lies in the socket's buffer is never mistaken for one that did not come.
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let left = slices
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    // Once more behind the sockets, which are read after the timers.
    setImmediate(() => reject(new TimeoutError(`no answer within ${ms} ms`)))
  }, ms / slices)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearInterval(timer)
  }
}

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

const slices = 5
