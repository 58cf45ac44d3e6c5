/** Access to a SQLite file while no other process has it open. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { isBusy } from '../database/sqlite/connection.ts'
import { isDamage } from '../database/sqlite/faults.ts'
import { inUse } from './target.ts'

/**
 * Calls `work` with the database, or without one if there is none. Nobody else can open it meanwhile, and it has neither
 * a -wal nor a -shm, so that it may be replaced. Throws a FatalError if it is in use.
 */
export function withSqliteToItself<T>(path: string, work: (db: DatabaseSync | undefined) => T): T {
  // An empty file is a database without tables.
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return work(undefined)
  const db = new DatabaseSync(path, { timeout: 1000 })
  try {
    // Leaving the WAL takes the only connection there is; a later start enters it again.
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (isDamage(error)) throw damagedFile(path)
    throw isBusy(error) ? inUse(path, ' by another process: stop the service first') : error
  }
  try {
    return work(db)
  } finally {
    db.close()
  }
}

/** Whether another process has the file open. */
export function isSqliteInUse(path: string): boolean {
  try {
    withSqliteToItself(path, () => {})
    return false
  } catch (error) {
    if (error instanceof FatalError && error.exitCode === exitCodes.unavailable) return true
    throw error
  }
}

function damagedFile(path: string): FatalError {
  const advice = 'move it away, together with its -wal and -shm'
  return new FatalError(`${path} is damaged, or no database of SQLite: ${advice}, and try again`, exitCodes.badData)
}
