/**
 * Those who follow the log. Nothing is queued for them: each has a position, and gets the next page when it has read the one
 * before. Whoever keeps up is passed the same page as all others at its position, with no more than a call.
 */
import type { ChangePage, FollowQuery, OnPage, ReadQuery } from './pages.ts'
import type { Waiter, Watch } from './watch.ts'

export interface FollowersDeps {
  watch: Watch
  /** The position as of the last look. */
  last(): number
  /** The next page after this position, if it is in memory. */
  findPage(query: ReadQuery, after: number): ChangePage | undefined
  /** Reads up to the position as of the last look. */
  read(query: ReadQuery): Promise<ChangePage>
}

export function createFollowers({ watch, last, findPage, read }: FollowersDeps) {
  const isNothingToWaitFor = (after: number, signal: AbortSignal) =>
    signal.aborted || watch.isClosed() || last() > after

  function wait(after: number, signal: AbortSignal): Promise<void> {
    if (isNothingToWaitFor(after, signal)) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter: Waiter = { after, wake: leave }
      function leave(): void {
        watch.remove(waiter)
        signal.removeEventListener('abort', leave)
        resolve()
      }
      signal.addEventListener('abort', leave)
      watch.add(waiter)
    })
  }

  /** Passes on what comes as long as it is in memory and the reader keeps up. Resolves with where to go on. */
  function stay({ signal, ...query }: FollowQuery, onPage: OnPage): Promise<number> {
    if (isNothingToWaitFor(query.after, signal)) return Promise.resolve(query.after)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { after: query.after, wake }
      function leave(): void {
        watch.remove(waiter)
        signal.removeEventListener('abort', leave)
        resolve(waiter.after)
      }
      function wake(): void {
        const page = watch.isClosed() ? undefined : findPage(query, waiter.after)
        if (!page) {
          leave()
          return
        }
        waiter.after = page.position
        const reading = page.entries.length > 0 ? onPage(page) : undefined
        if (reading) {
          watch.remove(waiter)
          reading.catch(reject).then(leave)
        } else if (page.more) leave()
      }
      signal.addEventListener('abort', leave)
      watch.add(waiter)
    })
  }

  return {
    wait,

    async *follow({ signal, ...query }: FollowQuery): AsyncGenerator<ChangePage> {
      for (let { after } = query; !signal.aborted && !watch.isClosed(); ) {
        const page = await read({ ...query, after })
        after = page.position
        if (page.entries.length > 0) yield page
        if (!page.more) await wait(after, signal)
      }
    },

    async pass({ signal, ...query }: FollowQuery, onPage: OnPage): Promise<void> {
      for (let { after } = query; !signal.aborted && !watch.isClosed(); ) {
        const page = await read({ ...query, after })
        after = page.position
        if (page.entries.length > 0) await onPage(page)
        if (!page.more) after = await stay({ ...query, after, signal }, onPage)
      }
    },
  }
}
