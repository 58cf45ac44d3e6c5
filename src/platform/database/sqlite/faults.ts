/**
 * Faults of the file rather than of a statement: damaged pages, a full disk, a file system that has become read-only. Each
 * is logged once, with advice; requests that meet one get 503.
 */
import { AppError, serviceUnavailable } from '../../../core/app-error.ts'
import type { Log } from '../../log/logger.ts'
import { primaryCodeOf, sqliteCodes } from './result-codes.ts'

export interface SqliteFaults {
  /** Records the fault behind an error, if any. Returns the error to throw. */
  note(error: Error): Error
  /** Called after a commit: clears faults that kept writes from succeeding. */
  noteWritten(): void
  /** Damage lasts until the file is opened again, other faults until writes have succeeded for a while. */
  hasFaults(): boolean
}

/** On a disk that is nearly full, writes fail and succeed in turn; this keeps the log from repeating that. */
const quietMs = 10_000

type Fault = 'damaged' | 'full' | 'readOnly' | 'unreadable'

const faultsByCode: ReadonlyMap<number | undefined, Fault> = new Map([
  [sqliteCodes.readOnly, 'readOnly'],
  [sqliteCodes.inputOutput, 'unreadable'],
  [sqliteCodes.corrupt, 'damaged'],
  [sqliteCodes.full, 'full'],
  [sqliteCodes.cannotOpen, 'unreadable'],
  [sqliteCodes.notADatabase, 'damaged'],
])

export function createSqliteFaults(path: string, log: Pick<Log, 'error' | 'info'> | undefined): SqliteFaults {
  /** The time of the last occurrence of each. */
  const known = new Map<Fault, number>()
  return {
    note(error) {
      const cause = error instanceof AppError ? error.cause : error
      const fault = faultOf(cause)
      if (!fault) return error
      if (!known.has(fault)) log?.error({ err: cause }, advice[fault](path))
      known.set(fault, performance.now())
      return serviceUnavailable(cause, { isReported: log !== undefined })
    },
    noteWritten() {
      // Fast path, as this runs on every write.
      if (known.size === 0) return
      const before = performance.now() - quietMs
      const over = [...known].filter(([fault, lastAt]) => fault !== 'damaged' && lastAt < before)
      for (const [fault] of over) known.delete(fault)
      if (over.length > 0) log?.info(`the database file ${path} takes writes again`)
    },
    hasFaults: () => known.size > 0,
  }
}

export function isDamage(error: unknown): boolean {
  return faultOf(error) === 'damaged'
}

/** For a start or a command that ends with it. */
export function describeDamage(path: string): string {
  return `the database file ${path} is damaged: stop the service if it runs, ${repair(path)}`
}

/** The -shm could not grow. https://sqlite.org/rescode.html#ioerr_shmsize */
const noRoomForIndex = 4874

/** The schema format in the header is one that never was. It has no code of its own, only that of errors in statements. */
const unknownFormat = 'unsupported file format'
const anyError = 1

export function faultOf(error: unknown): Fault | undefined {
  const { errcode, message } = (error ?? {}) as { errcode?: unknown; message?: unknown }
  if (errcode === noRoomForIndex) return 'full'
  if (errcode === anyError && message === unknownFormat) return 'damaged'
  return faultsByCode.get(primaryCodeOf(error))
}

const advice: Readonly<Record<Fault, (path: string) => string>> = {
  damaged: (path) =>
    `the database file ${path} is damaged: what needs its damaged pages is answered 503, everything else is served. Stop the service, ${repair(path)}`,
  full: (path) => `no room is left on the disk of the database file ${path}: writes are answered 503 until there is`,
  readOnly: (path) =>
    `the database file ${path} cannot be written: writes are answered 503. See that the file system is not mounted read-only, and that the user of the service may write the file, its -wal and -shm, and their folder`,
  unreadable: (path) =>
    `the disk of the database file ${path} fails: requests that meet it are answered 503. See the kernel's log (dmesg) for errors of the disk, and run: sqlite3 ${path} "PRAGMA integrity_check"`,
}

function repair(path: string): string {
  return `run: sqlite3 ${path} "PRAGMA integrity_check" to see what is damaged, and restore the last backup (docs/backup.md); without one, save what can be read: sqlite3 ${path} .recover | sqlite3 recovered.db`
}
