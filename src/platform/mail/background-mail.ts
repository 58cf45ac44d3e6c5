/** Mails that no response waits for. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

const maxCloseMs = 5000

export function createBackgroundMail({ log }: { log: Log }) {
  const underWay = new Set<Promise<void>>()
  return {
    /** Returns at once, and begins after the response: its time tells nothing. A failure is logged under that name. */
    begin(name: string, send: () => Promise<void>): void {
      const work = nextTurn()
        .then(send)
        .catch((error: unknown) => log.error({ err: error }, `${name} failed`))
        .finally(() => underWay.delete(work))
      underWay.add(work)
    },
    /** Waits for the mails that are on their way, but not for ever. */
    async close(): Promise<void> {
      await withTimeout(Promise.all(underWay), maxCloseMs).catch(() =>
        log.warn('a mail was still on its way and is given up'),
      )
    },
  }
}

export type BackgroundMail = ReturnType<typeof createBackgroundMail>
