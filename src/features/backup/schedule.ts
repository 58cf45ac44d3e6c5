/** Makes backups when they are due. Of several nodes, one makes each. */
import { basename } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { errorMessage } from '../../core/error-message.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../../platform/log/logger.ts'
import type { BackupFiles } from './backup-files.ts'
import type { BackupsStore, NewBackup } from './backups.store.ts'

export interface MadeBackup {
  rows: number
  bytes: number
  leftOut: readonly string[]
  /** Why it could not be restored and compared. Undefined if it could. */
  unproved?: string | undefined
}

export interface ScheduleDeps {
  store: BackupsStore
  files: BackupFiles
  clock: Clock
  log: Log
  everySeconds: number
  keep: number
  /** Names this process among the nodes. */
  holder: string
  /** Writes the archive and proves it, away from the event loop. */
  make(path: string, signal: AbortSignal): Promise<MadeBackup>
}

const lookEveryMs = 10_000
const renewEveryMs = 20_000
const leaseSeconds = 120
const maxRetrySeconds = 900

export type Schedule = ReturnType<typeof createSchedule>

export function createSchedule(deps: ScheduleDeps) {
  const { store, files, clock, log, everySeconds, holder } = deps
  const closing = new AbortController()

  /** Returns whether it made one, or tried to. */
  async function runIfDue(): Promise<boolean> {
    const now = clock.nowSeconds()
    if (closing.signal.aborted || !(await store.claim(holder, { now, until: now + leaseSeconds, everySeconds }))) {
      return false
    }
    const lost = new AbortController()
    const renewing = startPeriodicTask({
      everyMs: renewEveryMs,
      async work() {
        if (!(await store.renew(holder, clock.nowSeconds() + leaseSeconds))) lost.abort()
      },
      onError: (error) => log.warn({ err: error }, 'the lease of the backup could not be renewed; trying again'),
    })
    try {
      await run(now, AbortSignal.any([closing.signal, lost.signal]))
    } finally {
      await renewing.close()
    }
    return true
  }

  async function run(startedAt: number, signal: AbortSignal): Promise<void> {
    const made = await attempt(startedAt, signal)
    if (made) {
      const retryAt = made.error === null ? null : clock.nowSeconds() + Math.min(everySeconds, maxRetrySeconds)
      await store.finish(holder, made, retryAt)
    } else {
      await store.giveUp(holder)
    }
  }

  /** Undefined if it was interrupted. */
  async function attempt(startedAt: number, signal: AbortSignal): Promise<NewBackup | undefined> {
    const none = { started_at: startedAt, file: null, bytes: null, row_count: null, proved: false }
    try {
      await files.prepare()
      const path = files.pathAt(clock.nowIso())
      const { rows, bytes, leftOut, unproved } = await deps.make(path, signal)
      if (leftOut.length > 0) log.warn({ tables: leftOut }, 'tables that no migration makes are not in the backup')
      const file = basename(unproved === undefined ? path : await files.setAside(path))
      const written = { ...none, file, bytes, row_count: rows, finished_at: clock.nowSeconds() }
      if (unproved !== undefined) {
        log.error({ file, reason: unproved }, 'the backup was written, but could not be proved; it is made again')
        return { ...written, error: unproved }
      }
      await files.prune(deps.keep)
      log.info({ file, rows, bytes }, 'backup made and proved')
      return { ...written, proved: true, error: null }
    } catch (error) {
      if (signal.aborted) return undefined
      log.error({ err: error }, 'the backup failed; it is tried again')
      return { ...none, finished_at: clock.nowSeconds(), error: errorMessage(error) }
    }
  }

  return {
    runIfDue,

    start(): { close(): Promise<void> } {
      const onError = (error: unknown) => log.error({ err: error }, 'the schedule of backups failed; trying again')
      const first = runIfDue().catch(onError)
      const looking = startPeriodicTask({ everyMs: lookEveryMs, work: runIfDue, onError })
      return {
        async close() {
          closing.abort()
          await Promise.all([first, looking.close()])
        },
      }
    },
  }
}
