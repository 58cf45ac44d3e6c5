/** Creates a file that only its owner may read, because the database holds password hashes. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { cannotOpen } from './open-errors.ts'

/**
 * SQLite gives the -wal and -shm the mode of the file. A file that exists is not opened: closing a descriptor would drop
 * the locks that other connections of this process hold on it.
 */
export function createPrivateFile(path: string, kind?: 'lock'): void {
  try {
    createFolder(dirname(path))
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK)
    else closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw cannotOpen(path, error, kind)
  }
}

/** Not by recursive mkdir, which loops for ever where a folder cannot be created, as in /proc. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
