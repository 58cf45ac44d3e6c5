/**
 * Closes connections that no longer respond, and fails requests that wait for a connection while the server does not
 * respond. One periodic check instead of a timer per query. statement_timeout works only while the server is reachable, so
 * the deadline here is the last resort.
 */
import type pg from 'pg'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import { streamOf } from './client.ts'
import { findWorking } from './liveness.ts'
import { type Suspect, suspectAfterMs, type Use, type Uses } from './uses.ts'

/** A request that waits for a connection, because all are in use or a new one is being opened. */
export interface Wait extends Suspect {
  giveUp(error: Error): void
}

export interface LostConnectionsOptions {
  url: string
  uses: Uses
  waits: ReadonlySet<Wait>
  /** The process id of the connection's server process. */
  pidOf(client: pg.ClientBase): number
}

/** With the timeout of a check, a frozen server delays a request by at most five seconds. */
const checkEveryMs = 500
const missesBeforeLost = 2

export function endLostConnections({ url, uses, waits, pidOf }: LostConnectionsOptions) {
  /** While true, new requests are refused immediately. */
  let isFrozen = false
  const checks = startPeriodicTask({ everyMs: checkEveryMs, work: check, onError() {} })

  async function check(): Promise<void> {
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
      // The statement may have finished during the check, and the connection may serve another.
      if (uses.isCurrent(client, use) && use.suspectAt <= now) judgeUse(client, use, working)
    }
    for (const wait of longWaits) judgeWait(wait, working !== undefined)
    if (isFrozen) for (const wait of waits) wait.giveUp(serverNotResponding())
  }

  function judgeUse(client: pg.ClientBase, use: Use, working: ReadonlySet<number> | undefined): void {
    if (working?.has(pidOf(client))) {
      clearSuspicion(use)
      return
    }
    use.missed += 1
    // One miss is not enough: the result may have been in transit, or the server slow to accept a connection.
    if (use.missed < missesBeforeLost) return
    isFrozen ||= !working
    streamOf(client).destroy()
  }

  function judgeWait(wait: Wait, isResponding: boolean): void {
    if (isResponding) clearSuspicion(wait)
    else wait.missed += 1
    isFrozen ||= wait.missed >= missesBeforeLost
  }

  return { isFrozen: () => isFrozen, close: checks.close }
}

function clearSuspicion(suspect: Suspect): void {
  suspect.suspectAt = performance.now() + suspectAfterMs
  suspect.missed = 0
}

export function serverNotResponding(): Error {
  return new Error('connection timeout: the server does not answer')
}
