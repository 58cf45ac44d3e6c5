/** Signals to a server and the processes that it has started. */
import { readFileSync } from 'node:fs'

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has already ended.
    }
  }
}

/** `kill -9`. Returns the ids of the processes. */
export function killTree(pid: number): number[] {
  // It is stopped first, so that it cannot start further ones.
  signal([pid], 'SIGSTOP')
  const all = [pid, ...childrenOf(pid)]
  signal(all, 'SIGKILL')
  return all
}

/** A process that has ended but was not waited for is a zombie. */
export function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
