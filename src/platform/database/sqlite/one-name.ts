/**
 * Refuses a file with hard links. SQLite names the -wal and -shm after the path, so that processes that open the file by
 * two names do not see each other's, and write over each other's pages. A symbolic link is resolved first and does no harm.
 * https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file
 */
import { statSync } from 'node:fs'
import { cannotOpen } from './open-errors.ts'

/** A file that does not exist yet is fine. */
export function requireOneName(path: string): void {
  const names = countNames(path)
  if (names > 1) throw cannotOpen(path, `${describeNames(names)}. ${adviceOnNames(path)}`)
}

function countNames(path: string): number {
  try {
    return statSync(path).nlink
  } catch {
    // Opening it says what is wrong, if something is.
    return 1
  }
}

export function describeNames(names: number): string {
  return `it has ${names} names (hard links), and SQLite keeps a separate -wal for each, so that two processes would destroy it`
}

export function adviceOnNames(path: string): string {
  return `Remove the other name (find it: find / -samefile ${path}), or make it a symbolic link`
}
