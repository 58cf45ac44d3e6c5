/**
 * The nodes that share a database. Each says every 30 seconds that it is there. A SQLite file has one node, which writes
 * nothing.
 */
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'
import type { NodeRow, NodeStore } from './nodes.store.ts'

export interface ListedNode extends NodeRow {
  isThis: boolean
}

export interface NodesDeps {
  /** Undefined on SQLite. */
  store: NodeStore | undefined
  clock: Clock
  log: Pick<Log, 'warn'>
  self: Pick<NodeRow, 'id' | 'name' | 'version'>
  /** Those of this process that answer. */
  countThreads(): Promise<number>
}

const everyMs = 30_000
/** Three times as long: one write may be lost. */
const keptSeconds = 90
const maxStopMs = 1000

export type Nodes = ReturnType<typeof createNodes>

export function createNodes({ store, clock, log, self, countThreads }: NodesDeps) {
  const startedAt = clock.nowIso()

  async function describeSelf(): Promise<NodeRow> {
    return { ...self, threads: await countThreads(), started_at: startedAt, seen_at: clock.nowIso() }
  }

  async function beat(): Promise<void> {
    await store?.beat(await describeSelf(), clock.nowSeconds() + keptSeconds)
  }

  return {
    async list(): Promise<ListedNode[]> {
      const [own, rows = []] = await Promise.all([describeSelf(), store?.list(clock.nowSeconds())])
      const known = rows.find(({ id }) => id === self.id)
      const others = rows.filter((row) => row !== known).map((row) => ({ ...row, isThis: false }))
      // Its threads have started at different times; one of them has said when.
      return [{ ...own, started_at: known?.started_at ?? own.started_at, isThis: true }, ...others]
    },

    start(): { close(): Promise<void> } {
      if (!store) return { close: async () => {} }
      const onError = (error: unknown) => log.warn({ err: error }, 'the node could not say that it is there')
      const first = beat().catch(onError)
      const repeated = startPeriodicTask({ everyMs, work: beat, onError })
      return {
        async close() {
          await first
          await repeated.close()
          // Without the database, it is forgotten when it expires.
          await withTimeout(store.remove(self.id), maxStopMs).catch(() => {})
        },
      }
    },
  }
}
