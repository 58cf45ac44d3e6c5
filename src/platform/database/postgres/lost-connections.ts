/**
 * Ends connections from which no answer comes any more, and sends away those who wait while the server does not answer.
 * One look at all of them, not a timer for each. The server keeps its time limit only while it can be reached, so ours is
 * the last resort.
 */
import type pg from 'pg'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import { streamOf } from './client.ts'
import { findWorking } from './liveness.ts'
import { type Suspect, suspectAfterMs, type Use, type Uses } from './uses.ts'

/** Whoever waits for a connection, be it that all are in use or that a new one is being made. */
export interface Wait extends Suspect {
  giveUp(error: Error): void
}

export interface LostConnectionsOptions {
  url: string
  uses: Uses
  waits: ReadonlySet<Wait>
  /** Of the server's process that serves the connection. */
  pidOf(client: pg.ClientBase): number
}

/** Together with the time limit of a look, a server that is frozen holds nobody for longer than five seconds. */
const lookEveryMs = 500
const looksBeforeLost = 2

export function endLostConnections({ url, uses, waits, pidOf }: LostConnectionsOptions) {
  /** Known not to answer: whoever comes is refused at once, until it does. */
  let isFrozen = false
  const looking = startPeriodicTask({ everyMs: lookEveryMs, work: look, onError() {} })

  async function look(): Promise<void> {
    const now = performance.now()
    const used = uses.all()
    for (const [client, { deadline }] of used) if (now > deadline) streamOf(client).destroy()
    const suspects = used.filter(([, { suspectAt }]) => now > suspectAt)
    const longWaits = [...waits].filter(({ suspectAt }) => now > suspectAt)
    if (suspects.length + longWaits.length === 0 && !isFrozen) return
    const working = await findWorking(
      url,
      suspects.map(([client]) => pidOf(client)),
    ).catch(() => undefined)
    if (working) isFrozen = false
    for (const [client, use] of suspects) {
      // It may have been answered meanwhile, and lent again.
      if (uses.isCurrent(client, use) && use.suspectAt <= now) judgeUse(client, use, working)
    }
    for (const wait of longWaits) judgeWait(wait, working !== undefined)
    // Those that came later would find out the same.
    if (isFrozen) for (const wait of waits) wait.giveUp(doesNotAnswer())
  }

  function judgeUse(client: pg.ClientBase, use: Use, working: ReadonlySet<number> | undefined): void {
    if (working?.has(pidOf(client))) {
      acquit(use)
      return
    }
    use.missed += 1
    // Not at once: its answer may have been on its way, and a server may be slow to take a connection.
    if (use.missed < looksBeforeLost) return
    isFrozen ||= !working
    streamOf(client).destroy()
  }

  function judgeWait(wait: Wait, isAnswering: boolean): void {
    if (isAnswering) acquit(wait)
    else wait.missed += 1
    isFrozen ||= wait.missed >= looksBeforeLost
  }

  return { isFrozen: () => isFrozen, close: looking.close }
}

function acquit(suspect: Suspect): void {
  suspect.suspectAt = performance.now() + suspectAfterMs
  suspect.missed = 0
}

export function doesNotAnswer(): Error {
  return new Error('connection timeout: the server does not answer')
}
