/**
 * How many files and connections this process may have open. When they are used up, connections are closed as they arrive,
 * and Node.js does not tell (libuv's answer to EMFILE), so a low limit is told of in advance.
 */
import { readFileSync } from 'node:fs'
import type { Log } from '../log/logger.ts'

/** A common default; the service itself needs about a hundred. */
const wantedOpenFiles = 1024

/** Undefined where the system does not tell. Node.js has raised the soft limit to the hard one. */
export function findOpenFileLimit(): number | undefined {
  try {
    const found = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    if (found === undefined) return undefined
    return found === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found)
  } catch {
    return undefined
  }
}

/** Returns a line that says what to do, or undefined if the limit is high enough. */
export function describeLowLimit(limit: number | undefined): string | undefined {
  if (limit === undefined || limit >= wantedOpenFiles) return undefined
  return `only ${limit} files may be open, and each connection is one; beyond that, connections are closed without an answer and without a line in the log: raise LimitNOFILE, or "ulimit -n", to ${wantedOpenFiles} at least`
}

export function warnOfLowLimit(log: Log): void {
  const line = describeLowLimit(findOpenFileLimit())
  if (line !== undefined) log.warn(line)
}
