/** Follows the change log from a cursor, for as long as the consumer likes, through lost connections and restarts. */
import type { Schemas } from './api.ts'
import { LatchkeyError } from './errors.ts'
import type { Send } from './send.ts'
import { backoffMs, sleep } from './waiting.ts'

export type ProductChange = Schemas['ProductChange']

export interface ChangesOptions {
  /** Entries asked for at once, at most 1000. */
  limit?: number
  /** Ends the iteration. */
  signal?: AbortSignal
}

/** How long the service may hold a request until there is something. */
const waitSeconds = 25
/** A connection on which nothing has come for so long is dead. */
const maxSilentMs = (waitSeconds + 10) * 1000
/** A service that is about to stop does not wait. */
const pauseMs = 500

/** An entry of any log. */
export interface LogEntry {
  cursor: string
  type: string
  at: string
  version?: number
  data: unknown
}

interface LogPage {
  data: LogEntry[]
  meta: { cursor: string }
}

/** `path` is that of a change log, such as `/api/tickets/changes`. */
export type FollowChanges = ReturnType<typeof createFollowChanges>

export function createFollowChanges(send: Send) {
  return async function* follow(
    path: string,
    after?: string,
    options: ChangesOptions = {},
  ): AsyncGenerator<LogEntry, void> {
    const { limit = 100, signal } = options
    let cursor = after
    for (let failures = 0; !signal?.aborted; ) {
      const query = { limit, ...(cursor === undefined ? {} : { after: cursor, wait: waitSeconds }) }
      const timeout = AbortSignal.timeout(maxSilentMs)
      const startedAt = Date.now()
      try {
        const search = new URLSearchParams(query as unknown as Record<string, string>)
        const { body: page } = await send<LogPage>(`${path}?${search}`, {
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        })
        failures = 0
        for (const change of page.data) {
          yield change
          if (signal?.aborted) return
        }
        const isFirst = cursor === undefined
        cursor = page.meta.cursor
        if (page.data.length === 0 && !isFirst && Date.now() - startedAt < pauseMs) await sleep(pauseMs, signal)
      } catch (error) {
        if (signal?.aborted) return
        if (!timeout.aborted && !(error instanceof LatchkeyError && error.isTemporary)) throw error
        await sleep(waitOf(error) ?? backoffMs(failures++), signal)
      }
    }
  }
}

export function createChanges(follow: FollowChanges) {
  /** Of any collection, by the path of its routes, such as `/api/tickets`. */
  function changes(path: `/${string}`, after?: string, options?: ChangesOptions): AsyncGenerator<LogEntry, void>
  /**
   * Every change of a product after the cursor, in order, without end. Without a cursor, those from now on. Store the `cursor`
   * of an entry once it has been dealt with, and go on from there after a restart. Throws CursorExpiredError if the log no
   * longer reaches back to the cursor: list the products again, and go on from the `cursor` of the list.
   */
  function changes(after?: string, options?: ChangesOptions): AsyncGenerator<ProductChange, void>
  function changes(
    first?: string,
    second?: string | ChangesOptions,
    third?: ChangesOptions,
  ): AsyncGenerator<never, void> {
    const isPath = first?.startsWith('/')
    const path = isPath ? `${first}/changes` : '/api/v2/products/changes'
    const [after, options] = isPath ? [second, third] : [first, second]
    return follow(path, after as string | undefined, options as ChangesOptions | undefined) as AsyncGenerator<
      never,
      void
    >
  }
  return changes
}

function waitOf(error: unknown): number | undefined {
  const seconds = error instanceof LatchkeyError ? error.retryAfter : undefined
  return seconds === undefined ? undefined : seconds * 1000
}
