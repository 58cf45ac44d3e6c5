/**
 * Closes connections that no longer respond, and fails requests that wait for a connection while the server does not
 * respond. One periodic check instead of a timer per query. statement_timeout works only while the server is reachable, so
 * the deadline here is the last resort.
 */
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import { type Connection, streamOf } from './client.ts'
import type { Liveness } from './liveness.ts'
import { type Suspect, suspectAfterMs, type Use, type Uses } from './uses.ts'

/** A request that waits for a connection, because all are in use or a new one is being opened. */
export interface Wait extends Suspect {
  deadline: number
  /** How many checks have seen it. */
  seen: number
  giveUp(error: Error): void
}

export interface LostConnectionsOptions {
  uses: Uses
  waits: ReadonlySet<Wait>
  findWorking(suspects: readonly Connection[]): Promise<Liveness>
  /** Other connections to the same host may be lost too. */
  onLost(connection: Connection): void
}

/** With the timeout of a check, a frozen server delays a request by at most five seconds. */
const checkEveryMs = 500
const missesBeforeLost = 2
/** If the event loop was blocked, the connection may have been ready for long. */
const seenBeforeGivenUp = 8

export function endLostConnections({ uses, waits, findWorking, onLost }: LostConnectionsOptions) {
  /** While true, new requests are refused immediately. */
  let isFrozen = false
  const checks = startPeriodicTask({ everyMs: checkEveryMs, work: check, onError() {} })

  async function check(): Promise<void> {
    const now = performance.now()
    const used = uses.all()
    for (const [{ client }, { deadline }] of used) if (now > deadline) streamOf(client).destroy()
    for (const wait of waits) {
      wait.seen += 1
      if (now > wait.deadline && wait.seen >= seenBeforeGivenUp) wait.giveUp(noFreeConnection())
    }
    const suspects = used.filter(([, { suspectAt }]) => now > suspectAt)
    const longWaits = [...waits].filter(({ suspectAt }) => now > suspectAt)
    if (suspects.length + longWaits.length === 0 && !isFrozen) return
    const liveness = await findWorking(suspects.map(([connection]) => connection))
    if (liveness.isResponding) isFrozen = false
    for (const [connection, use] of suspects) {
      // The statement may have finished during the check, and the connection may serve another.
      if (uses.isCurrent(connection, use) && use.suspectAt <= now) judgeUse(connection, use, liveness)
    }
    for (const wait of longWaits) judgeWait(wait, liveness)
    if (isFrozen) for (const wait of waits) wait.giveUp(serverNotResponding())
  }

  function judgeUse(connection: Connection, use: Use, { working, isResponding }: Liveness): void {
    // Without a process, it waits in a pooler for one; until its deadline, as it would wait for a connection.
    if (working.has(connection) || (connection.pid === 0 && isResponding)) {
      clearSuspicion(use)
      return
    }
    use.missed += 1
    // One miss is not enough: the result may have been in transit, or the server slow to accept a connection.
    if (use.missed < missesBeforeLost) return
    isFrozen ||= !isResponding
    streamOf(connection.client).destroy()
    onLost(connection)
  }

  function judgeWait(wait: Wait, { isResponding }: Liveness): void {
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

function noFreeConnection(): Error {
  return new Error('connection timeout: no connection became free')
}
