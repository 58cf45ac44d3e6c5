/**
 * Rejects if a promise takes longer than `ms`. The time is counted in slices, between which the event loop reads from
 * sockets: if it was blocked for ten seconds, only one slice has passed, so a reply that already lies in the socket's
 * buffer is not taken for a timeout.
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  let left = slices
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    // Sockets are read after timers; give them one last chance.
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
