/** Why a database file cannot be used: one line, with advice. */
import { AppError } from '../../../core/app-error.ts'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import { describeDamage, isDamage } from './faults.ts'
import { primaryCodeOf, sqliteCodes } from './result-codes.ts'

const writable = 'The user of the service must be able to write the file, its folder, and the -wal and -shm beside it'
const room = 'Make room on its disk and start again'

/** Completes a sentence about the path. */
export const isFolderAdvice = 'is a folder; the URL of the database must name a file'

const adviceBySystemCode: Readonly<Record<string, string>> = {
  EACCES: writable,
  EPERM: writable,
  EROFS: 'Its file system is mounted read-only',
  ENOSPC: room,
  EDQUOT: room,
  EISDIR: `It ${isFolderAdvice}`,
}

const adviceBySqliteCode: ReadonlyMap<number | undefined, string> = new Map([
  [sqliteCodes.readOnly, writable],
  [sqliteCodes.cannotOpen, writable],
  [sqliteCodes.full, room],
  [sqliteCodes.inputOutput, `${room}, or see the kernel's log (dmesg) for errors of the disk`],
  [
    sqliteCodes.notADatabase,
    'Correct DATABASE_URL if it names the wrong file; if it is the right one, its beginning is damaged: restore the last backup (docs/backup.md)',
  ],
])

/** The reason is an error of the file system or of SQLite, or a text. */
export function cannotOpen(path: string, reason: unknown, kind: 'database' | 'lock' = 'database'): FatalError {
  if (reason instanceof FatalError) return reason
  const sqliteCode = primaryCodeOf(reason)
  const isDamaged = kind === 'database' && isDamage(reason)
  // Another file may be meant, if it is none of SQLite's.
  if (isDamaged && sqliteCode !== sqliteCodes.notADatabase) {
    return new FatalError(describeDamage(path), exitCodes.badData, { cause: reason })
  }
  const { code, message } = reason as NodeJS.ErrnoException
  const isOfSqlite = sqliteCode !== undefined
  const what = typeof reason === 'string' ? reason : isOfSqlite ? message : (code ?? message)
  const advice = isOfSqlite ? adviceBySqliteCode.get(sqliteCode) : adviceBySystemCode[code ?? '']
  const isFull = advice?.startsWith(room)
  const exitCode = isDamaged ? exitCodes.badData : isFull ? exitCodes.unavailable : exitCodes.cannotCreate
  const line = `cannot open the ${kind} file ${path}: ${what}${advice === undefined ? '' : `. ${advice}`}`
  return new FatalError(line, exitCode, { cause: reason })
}

/** What ends a start or a command if this error does: a fault of the file comes with advice. */
export function toFatalError(path: string, error: unknown): unknown {
  const cause = error instanceof AppError ? error.cause : error
  return isDamage(cause) || adviceBySqliteCode.has(primaryCodeOf(cause)) ? cannotOpen(path, cause) : error
}
