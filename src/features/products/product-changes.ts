/**
 * Notifies open console pages on every node of changed products. Best effort: nothing is stored, no request waits for it,
 * and a page that was disconnected reloads its list.
 */
import type { Bus } from '../../platform/bus/bus.ts'
import type { Log } from '../../platform/log/logger.ts'

export interface ChangeNotice {
  id: number
  kind: 'created' | 'updated' | 'deleted' | 'restored'
}

/** The published message. */
export interface ChangeNotices {
  changes: readonly ChangeNotice[]
  /** There were more changes than the message lists. */
  isCut: boolean
}

export const productChangesTopic = 'product-changes'

/** A node publishes at most this often. */
const gatherMs = 100
/** Keeps a message below PostgreSQL's limit of 8000 bytes. */
const maxChanges = 100

export function createChangeFeed({ bus, log }: { bus: Bus; log: Log }) {
  let waiting: ChangeNotice[] = []
  let isCut = false
  /** Set until the bus has accepted the message, so that a bus that hangs has at most one pending message. */
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
      log.debug({ err: error }, 'product changes could not be published')
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
