/**
 * Keeps a connection to another program alive. TCP does not report a peer that hangs, so the connection is pinged; when a
 * ping times out, it is dropped, which fails everything that waits on it, and made again with back-off.
 */
import { startPeriodicTask } from './periodic-task.ts'
import { TimeoutError, withTimeout } from './timeout.ts'

export interface SupervisedConnectionOptions {
  /** Resolves when the connection is usable. Called again after a loss, never twice at once. */
  connect(): Promise<unknown>
  ping(): Promise<unknown>
  /** Ends the connection, or the attempt to make one, immediately. May be called when there is none. */
  drop(): void
  onLost(error: unknown): void
  /** Called when the connection works again after a loss. */
  onBack(): void
  /** Limit of an attempt to connect again. */
  attemptTimeoutMs?: number
}

export interface SupervisedConnection {
  /** Makes the first connection. Rejects without a retry if that takes longer than `timeoutMs`. */
  start(timeoutMs: number): Promise<void>
  isUp(): boolean
  /** Reports that the connection is broken. */
  lose(error: unknown): void
  /** Waits for the reply to a command. On a timeout its outcome is unknown, so the connection is replaced. */
  settle(command: Promise<unknown>): Promise<void>
  close(): Promise<void>
}

export const replyTimeoutMs = 800
const pingEveryMs = 500
const defaultAttemptTimeoutMs = 2000
const maxRetryMs = 2000
/** A dropped attempt normally settles; one that does not must not end the supervision. */
const settleTimeoutMs = 10_000

export function superviseConnection(options: SupervisedConnectionOptions): SupervisedConnection {
  const { connect, ping, drop, onLost, onBack, attemptTimeoutMs = defaultAttemptTimeoutMs } = options
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
      // An abandoned attempt may still succeed. Its connection is dropped before the next attempt starts.
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
      attempt(attemptTimeoutMs).then(onBack, () => {
        if (!isClosed) connectAgain(attempts + 1)
      })
    }, waitMs).unref()
  }

  const pings = startPeriodicTask({
    everyMs: pingEveryMs,
    work: async () => isUp && withTimeout(ping(), replyTimeoutMs),
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
        await withTimeout(command, replyTimeoutMs)
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
