/**
 * Tells the open pages of every node which products have changed. Best effort, for pages that show the new state at
 * once: nothing is kept, nobody waits for it, and a page that was away loads its list anew.
 */
import type { Bus } from '../../platform/bus/bus.ts'
import type { Log } from '../../platform/log/logger.ts'

export interface ChangeNotice {
  id: number
  kind: 'created' | 'updated' | 'deleted' | 'restored'
}

/** What is published. */
export interface ChangeNotices {
  changes: readonly ChangeNotice[]
  /** There were more than are told. */
  isCut: boolean
}

export const productChangesTopic = 'product-changes'

/** However many products are written, a node publishes no more often. */
const gatherMs = 100
/** Keeps a message below what PostgreSQL carries, which is 8000 bytes. */
const maxChanges = 100

export function createChangeFeed({ bus, log }: { bus: Bus; log: Log }) {
  let waiting: ChangeNotice[] = []
  let isCut = false
  /** Set until what it has published is on its way: a bus that hangs gets one message, not one for each write. */
  let timer: NodeJS.Timeout | undefined

  function schedule(): void {
    timer = setTimeout(publish, gatherMs).unref()
  }

  async function publish(): Promise<void> {
    const value: ChangeNotices = { changes: waiting, isCut }
    waiting = []
    isCut = false
    try {
      await bus.publish(productChangesTopic, value)
    } catch (error) {
      log.debug({ err: error }, 'open lists could not be told of changed products')
    }
    timer = undefined
    if (waiting.length > 0) schedule()
  }

  return {
    announce(change: ChangeNotice): void {
      if (waiting.length < maxChanges) waiting.push(change)
      else isCut = true
      if (!timer) schedule()
    },
    async close() {
      clearTimeout(timer)
    },
  }
}
