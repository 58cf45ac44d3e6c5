/**
 * Keeps a connection to another program that may hang, vanish or come back. A connection says nothing when its peer
 * freezes, so it is pinged; one that does not answer in time is dropped, which fails whatever waits on it, and made anew.
 */
import { startPeriodicTask } from './periodic-task.ts'
import { TimeoutError, withTimeout } from './timeout.ts'

export interface SupervisedConnectionOptions {
  /** Resolves when the connection can be used. Called again after a loss, never twice at once. */
  connect(): Promise<unknown>
  ping(): Promise<unknown>
  /** Ends the connection, or the attempt to make one, at once. May be called when there is none. */
  drop(): void
  onLost(error: unknown): void
  /** It is there again after a loss. */
  onBack(): void
}

export interface SupervisedConnection {
  /** Makes the first connection. Rejects, and does not try again, where it cannot be made within `timeoutMs`. */
  start(timeoutMs: number): Promise<void>
  isUp(): boolean
  /** The connection was found to be broken. */
  lose(error: unknown): void
  /**
   * Waits for the answer to a command. Whether an unanswered one was carried out is unknown: the connection is then made
   * anew.
   */
  settle(command: Promise<unknown>): Promise<void>
  close(): Promise<void>
}

/** How long an answer may take before whoever waits is told that there is none. */
export const answerTimeoutMs = 800
const pingEveryMs = 500
const reconnectTimeoutMs = 2000
const maxRetryMs = 2000
/** An attempt that was dropped ends by itself; this only keeps one that does not from ending the supervision. */
const settleTimeoutMs = 10_000

export function superviseConnection(options: SupervisedConnectionOptions): SupervisedConnection {
  const { connect, ping, drop, onLost, onBack } = options
  let isUp = false
  let isClosed = false
  let retry: NodeJS.Timeout | undefined

  async function attempt(timeoutMs: number): Promise<void> {
    const connecting = connect()
    try {
      await withTimeout(connecting, timeoutMs)
      if (isClosed) throw new Error('the connection is closed')
      isUp = true
    } catch (error) {
      drop()
      // An attempt that is given up may still succeed: what it made is dropped too, before the next one begins.
      await withTimeout(connecting.then(drop), settleTimeoutMs).catch(ignore)
      throw error
    }
  }

  function lose(error: unknown): void {
    if (!isUp) return
    isUp = false
    drop()
    if (isClosed) return
    onLost(error)
    connectAgain(0)
  }

  function connectAgain(attempts: number): void {
    const waitMs = Math.min(50 * 2 ** attempts, maxRetryMs)
    retry = setTimeout(() => {
      attempt(reconnectTimeoutMs).then(onBack, () => {
        if (!isClosed) connectAgain(attempts + 1)
      })
    }, waitMs).unref()
  }

  const pings = startPeriodicTask({
    everyMs: pingEveryMs,
    work: async () => isUp && withTimeout(ping(), answerTimeoutMs),
    onError: lose,
  })

  return {
    async start(timeoutMs) {
      try {
        await attempt(timeoutMs)
      } catch (error) {
        isClosed = true
        await pings.close()
        throw error
      }
    },
    isUp: () => isUp,
    lose,
    async settle(command) {
      try {
        await withTimeout(command, answerTimeoutMs)
      } catch (error) {
        if (error instanceof TimeoutError) lose(error)
        throw error
      }
    },
    async close() {
      isClosed = true
      isUp = false
      clearTimeout(retry)
      drop()
      await pings.close()
    },
  }
}

const ignore = () => {}
