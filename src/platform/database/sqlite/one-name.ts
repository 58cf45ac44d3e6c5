/**
 * Refuses a folder, and a file with hard links. SQLite names the -wal and -shm after the path, so that processes that open the file by
 * two names do not see each other's, and write over each other's pages. A symbolic link is resolved first and does no harm.
 * https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file
 */
import { type Stats, statSync } from 'node:fs'
import { cannotOpen } from './open-errors.ts'

/** A file that does not exist yet is fine. */
export function requireOneName(path: string): void {
  const found = find(path)
  if (found?.isDirectory()) throw cannotOpen(path, { code: 'EISDIR' })
  if (found && found.nlink > 1) throw cannotOpen(path, `${describeNames(found.nlink)}. ${adviceOnNames(path)}`)
}

function find(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    // Opening it says what is wrong, if something is.
    return undefined
  }
}

export function describeNames(names: number): string {
  return `it has ${names} names (hard links), and SQLite keeps a separate -wal for each, so that two processes would destroy it`
}

export function adviceOnNames(path: string): string {
  return `Remove the other name (find it: find / -samefile ${path}), or make it a symbolic link`
}
