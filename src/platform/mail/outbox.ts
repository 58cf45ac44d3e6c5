/** Mail that is sent after the response: how long it takes must not tell whether there is an account. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { withTimeout } from '../../core/timeout.ts'
import type { Log } from '../log/logger.ts'

const maxCloseMs = 5000

export function createOutbox({ log }: { log: Log }) {
  const underWay = new Set<Promise<void>>()
  return {
    /** Returns immediately and starts on the next turn, after the response. A failure is logged as `what`. */
    post(what: string, send: () => Promise<void>): void {
      const work = nextTurn()
        .then(send)
        .catch((error: unknown) => log.error({ err: error }, `${what} failed`))
        .finally(() => underWay.delete(work))
      underWay.add(work)
    },

    /** Waits for what is under way, but not for ever. */
    async close(): Promise<void> {
      await withTimeout(Promise.all(underWay), maxCloseMs).catch(() =>
        log.warn('a mail was still on its way and is given up'),
      )
    },
  }
}

export type Outbox = ReturnType<typeof createOutbox>
