/** The tokens that are to be looked at again, a few at a time. A look that fails is repeated. */
import { setImmediate as rest, setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log/logger.ts'
import type { Bearer } from './bearers.ts'

export interface CheckQueueOptions {
  check(bearer: Bearer): Promise<void>
  log: Log
}

/** How much is done before others get their turn. */
const checkedAtOnce = 20
const retryMs = 400

export function createCheckQueue({ check, log }: CheckQueueOptions) {
  /** Those that something was told of, and the rest. */
  const urgent = new Set<Bearer>()
  const due = new Set<Bearer>()
  let isChecking = false
  let isFailing = false
  let isClosed = false

  /** Goes on until nothing is due. */
  async function start(): Promise<void> {
    if (isChecking) return
    isChecking = true
    for (let taken = take(); taken.size > 0; taken = take()) {
      await rest()
      const outcomes = await Promise.allSettled([...taken.keys()].map(check))
      const failed = [...taken].filter((_, i) => outcomes[i]?.status === 'rejected')
      for (const [bearer, from] of failed) if (bearer.connections.size > 0) from.add(bearer)
      report(outcomes)
      // Nobody loses a connection because the database is away: it is asked again.
      if (failed.length > 0) await sleep(retryMs, undefined, { ref: false })
    }
    isChecking = false
  }

  /** Takes the next few, and remembers where from. */
  function take(): Map<Bearer, Set<Bearer>> {
    const taken = new Map<Bearer, Set<Bearer>>()
    if (isClosed) return taken
    for (const from of [urgent, due]) {
      for (const bearer of from) {
        if (taken.size === checkedAtOnce) return taken
        from.delete(bearer)
        if (!taken.has(bearer)) taken.set(bearer, from)
      }
    }
    return taken
  }

  function report(outcomes: PromiseSettledResult<void>[]): void {
    const failure = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failure && !isFailing) log.warn({ err: failure.reason }, 'open connections cannot be checked; tried again')
    isFailing = failure !== undefined
  }

  return {
    addUrgent(bearers: Iterable<Bearer>): void {
      for (const bearer of bearers) urgent.add(bearer)
      void start()
    },

    addDue(bearers: Iterable<Bearer>): void {
      for (const bearer of bearers) due.add(bearer)
      void start()
    },

    remove(bearer: Bearer): void {
      urgent.delete(bearer)
      due.delete(bearer)
    },

    close(): void {
      isClosed = true
    },
  }
}
