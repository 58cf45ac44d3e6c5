/**
 * Lists. Those that ask the same of the same statement, in one turn of the event loop or while an earlier one is under way,
 * share one query. It is sent after all of them have asked, so each sees what was committed before.
 */
import { createTickBatcher } from '../../../core/tick-batcher.ts'
import type { Value } from '../database.ts'
import { RoundTrips } from './round-trips.ts'

interface Asker {
  resolve(rows: object[]): void
  reject(error: unknown): void
}

interface List {
  waiting: Asker[]
  readonly request: () => void
}

export type Run = (sql: string, values: readonly Value[]) => Promise<object[]>

export function createSharedLists(run: Run) {
  /** By statement, then by parameters. Only what is under way. */
  const statements = new Map<string, Map<string, List>>()
  const inTick = createTickBatcher(process.nextTick)

  function listsOf(sql: string): Map<string, List> {
    const known = statements.get(sql)
    if (known) return known
    const lists = new Map<string, List>()
    statements.set(sql, lists)
    return lists
  }

  return {
    all(sql: string, values: readonly Value[]): Promise<object[]> {
      const lists = listsOf(sql)
      const key = JSON.stringify(values)
      let list = lists.get(key)
      if (!list) {
        list = createList(run, {
          sql,
          values,
          onIdle() {
            lists.delete(key)
            if (lists.size === 0) statements.delete(sql)
          },
        })
        lists.set(key, list)
      }
      const { waiting, request } = list
      return new Promise((resolve, reject) => {
        if (waiting.push({ resolve, reject }) === 1) inTick(request)
      })
    },
  }
}

function createList(
  run: Run,
  { sql, values, onIdle }: { sql: string; values: readonly Value[]; onIdle: () => void },
): List {
  const trips = new RoundTrips(() => void query())
  const list: List = { waiting: [], request: () => trips.request() }

  async function query(): Promise<void> {
    const askers = list.waiting
    list.waiting = []
    trips.begin()
    try {
      const rows = await run(sql, values)
      // Each may change its own.
      for (const [i, { resolve }] of askers.entries()) resolve(i === 0 ? rows : rows.map((row) => ({ ...row })))
    } catch (error) {
      for (const { reject } of askers) reject(error)
    } finally {
      trips.end()
      if (trips.isIdle && list.waiting.length === 0) onIdle()
    }
  }

  return list
}
