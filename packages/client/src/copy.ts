/**
 * A live copy of the rows of a collection: it lists them, follows the log, and begins again where the log says so. What is
 * written meanwhile is sent in order, and again if the answer is lost.
 */
import type { CollectionChange, CollectionTypes, RowChange, RowList } from './collections.ts'
import { CursorExpiredError, LatchkeyError } from './errors.ts'
import { backoffMs, randomKey, sleep } from './waiting.ts'

export interface CopyOptions {
  /** Called after each change, with the copy as it is then. */
  onChange?(): void
  /** An error that ends the copy, such as a session that is over. */
  onError?(error: unknown): void
}

export interface CollectionCopy<Types extends CollectionTypes> {
  /** By id. */
  readonly rows: ReadonlyMap<number, Types['row']>
  /** Resolves when the rows have been listed for the first time. */
  readonly ready: Promise<void>
  /** Writes that the service has not answered yet. */
  pending(): number
  /** Waits until the service can be reached. Rejects if it refuses. */
  create(values: Types['new']): Promise<Types['row']>
  update(id: number, change: RowChange<Types>): Promise<Types['row']>
  delete(id: number): Promise<void>
  close(): void
}

interface CopyDeps<Types extends CollectionTypes> {
  /** The first page, or the one at a cursor. */
  list(cursor?: string): Promise<RowList<Types>>
  changes(after: string, options: { signal: AbortSignal }): AsyncIterable<CollectionChange<Types>>
  create(values: Types['new'], options: { idempotencyKey: string }): Promise<Types['row']>
  update(id: number, change: RowChange<Types>, options: { idempotencyKey: string }): Promise<Types['row']>
  delete(id: number): Promise<void>
}

export function createCopy<Types extends CollectionTypes>(
  deps: CopyDeps<Types>,
  { onChange, onError }: CopyOptions,
): CollectionCopy<Types> {
  type Row = Types['row'] & { id: number }
  const rows = new Map<number, Row>()
  /** The last version that was applied, so that nothing older replaces it. */
  const versions = new Map<number, number>()
  const closing = new AbortController()
  const { signal } = closing
  let setReady: () => void = () => {}
  let failReady: (error: unknown) => void = () => {}
  const ready = new Promise<void>((resolve, reject) => {
    setReady = resolve
    failReady = reject
  })
  // Whoever does not wait for it hears of the error by `onError`.
  ready.catch(() => {})

  /** Rows that were not listed are gone. Returns where the log goes on. */
  async function listAll(): Promise<string> {
    const found = new Map<number, Row>()
    let page = await deps.list()
    const { cursor } = page
    for (;;) {
      for (const row of page.data as Row[]) found.set(row.id, row)
      if (page.meta.next === null || signal.aborted) break
      page = await deps.list(page.meta.next)
    }
    rows.clear()
    versions.clear()
    for (const [id, row] of found) rows.set(id, row)
    onChange?.()
    return cursor
  }

  /** Returns whether to list again. */
  function apply({ type, id, row, version = 0 }: CollectionChange<Types>): boolean {
    if (id === null) return true
    if (version > 0 && version < (versions.get(id) ?? 0)) return false
    if (version > 0) versions.set(id, version)
    if (row === null || type.endsWith('.deleted')) rows.delete(id)
    else rows.set(id, row as Row)
    onChange?.()
    return false
  }

  /** Until the service answers. */
  async function retry<Result>(work: (isAgain: boolean) => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; ) {
      signal.throwIfAborted()
      try {
        return await work(failures > 0)
      } catch (error) {
        if (!(error instanceof LatchkeyError && error.isTemporary)) throw error
        await sleep(backoffMs(failures++), signal)
      }
    }
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const cursor = await retry(listAll)
      setReady()
      try {
        for await (const change of deps.changes(cursor, { signal })) if (apply(change)) break
      } catch (error) {
        // The log no longer reaches back to the cursor: what is missing is in the list.
        if (!(error instanceof CursorExpiredError)) throw error
      }
    }
  }

  follow().catch((error: unknown) => {
    if (signal.aborted) return
    failReady(error)
    onError?.(error)
  })

  let queue: Promise<unknown> = Promise.resolve()
  let waiting = 0

  /** One after the other, each until the service has answered. */
  function enqueue<Result>(send: (isAgain: boolean) => Promise<Result>): Promise<Result> {
    waiting += 1
    const sent = queue.then(() => retry(send))
    queue = sent.then(
      () => void waiting--,
      () => void waiting--,
    )
    return sent
  }

  return {
    rows,
    ready,
    pending: () => waiting,
    create(values) {
      const idempotencyKey = randomKey()
      return enqueue(() => deps.create(values, { idempotencyKey }))
    },
    update(id, change) {
      const idempotencyKey = randomKey()
      return enqueue(() => deps.update(id, change, { idempotencyKey }))
    },
    delete: (id) =>
      enqueue(async (isAgain) => {
        try {
          await deps.delete(id)
        } catch (error) {
          // The answer to the first request was lost.
          if (!(isAgain && error instanceof LatchkeyError && error.status === 404)) throw error
        }
      }),
    close: () => closing.abort(),
  }
}
