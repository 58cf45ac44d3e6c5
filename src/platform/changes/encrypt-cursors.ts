/** Has cursors encrypted for good once no node of the release before is left. */
import type { Clock } from '../../core/clock.ts'
import { startPeriodicTask } from '../../core/periodic-task.ts'
import type { Log } from '../log/logger.ts'
import type { Cursors } from './cursors.ts'

export interface CursorEncryptionOptions {
  cursors: Cursors
  clock: Clock
  log: Log
}

const everyMs = 5000

export function startCursorEncryption({ cursors, clock, log }: CursorEncryptionOptions): { close(): Promise<void> } {
  if (!cursors.pending) return { close: async () => {} }
  const task = startPeriodicTask({
    everyMs,
    async work() {
      await cursors.refresh()
      if (!cursors.pending) return
      await cursors.pending.encrypt(clock.nowSeconds())
      await cursors.refresh()
      if (cursors.pending) return
      log.info('nodes of the previous release are gone: cursors of the change log are encrypted from now on')
      void task.close()
    },
    onError: (error) => log.warn({ err: error }, 'could not check whether cursors can be encrypted'),
  })
  return task
}
