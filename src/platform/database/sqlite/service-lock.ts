/**
 * Keeps two services off one SQLite file: each would have its own topics and rate limits. The lock is one of the operating
 * system on an empty SQLite file beside the database, so it ends with the process, however that ends. SQLite's own lock
 * levels are used: RESERVED can be held once and beside any number of SHARED ones, EXCLUSIVE only alone.
 *
 * Nothing else may open this file: POSIX drops all locks of a process on a file when it closes any descriptor of it.
 */
import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { isBusy } from './connection.ts'
import { createPrivateFile } from './create-private-file.ts'
import { requireOneName } from './one-name.ts'
import { cannotOpen } from './open-errors.ts'

export interface ServiceLock {
  release(): void
}

/** `isServiceRunning` holds its lock for less than this. */
const probeMs = 500

/**
 * Held by the service of a file. Throws a FatalError if another process, or this one, serves it,
 * or if it has a second name, under which another process would not see the lock.
 */
export function lockForService(path: string): ServiceLock {
  createPrivateFile(path)
  requireOneName(path)
  return hold(path, 'BEGIN IMMEDIATE')
}

/** Held by a process that serves the same file beside a service and shares topics and limits with it, by Redis. */
export function lockBesideService(path: string): ServiceLock {
  createPrivateFile(path)
  requireOneName(path)
  // BEGIN alone takes no lock; the first read does.
  return hold(path, 'BEGIN; PRAGMA user_version')
}

/** Whether a process serves this file, and so holds one of the locks above. */
export function isServiceRunning(path: string): boolean {
  if (!existsSync(path) || !existsSync(lockFileOf(path))) return false
  const lock = open(path, { busyTimeoutMs: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw cannotOpen(lockFileOf(path), error, 'lock')
  } finally {
    lock.close()
  }
}

function hold(path: string, begin: string): ServiceLock {
  const lock = open(path, { busyTimeoutMs: probeMs })
  try {
    lock.exec(begin)
  } catch (error) {
    lock.close()
    throw isBusy(error) ? isServed(path) : cannotOpen(lockFileOf(path), error, 'lock')
  }
  held.add(lock)
  return {
    release() {
      if (held.delete(lock)) lock.close()
    },
  }
}

/** A connection that is garbage collected is closed, and its lock lost. */
const held = new Set<DatabaseSync>()

function open(path: string, { busyTimeoutMs }: { busyTimeoutMs: number }): DatabaseSync {
  const file = lockFileOf(path)
  createPrivateFile(file, 'lock')
  try {
    const lock = new DatabaseSync(file, { timeout: busyTimeoutMs })
    // Nothing is ever written, so no journal is needed beside the file.
    lock.exec('PRAGMA journal_mode = MEMORY')
    return lock
  } catch (error) {
    throw cannotOpen(file, error, 'lock')
  }
}

/** Beside the file itself, not beside a link to it. */
function lockFileOf(path: string): string {
  return `${realpathSync(path)}.lock`
}

function isServed(path: string): FatalError {
  return new FatalError(
    `the database file ${path} is served by another Latchkey process: two would share neither subscriptions nor rate limits. Stop that one first, or use PostgreSQL for several`,
    exitCodes.unavailable,
  )
}
