/**
 * Detects that the database file was removed or replaced while the service runs. The open file is then no longer the one
 * at the path, and everything written to it is lost when the process ends.
 */
import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import type { Log } from '../../log/logger.ts'

export interface SqliteFileWatch {
  /** Whether the file at the path is no longer the open one. */
  isLost(): boolean
  close(): Promise<void>
}

export interface SqliteFileWatchOptions {
  path: string
  /** Device and inode of the opened files, by path. */
  identities: ReadonlyMap<string, string>
  log: Pick<Log, 'error' | 'info'> | undefined
}

const everyMs = 1000

export function watchSqliteFile({ path, identities, log }: SqliteFileWatchOptions): SqliteFileWatch {
  let isLost = false

  async function look(): Promise<void> {
    const areOthers = await Promise.all(
      [...identities].map(async ([file, identity]) => (await findIdentity(file)) !== identity),
    )
    const wasLost = isLost
    isLost = areOthers.includes(true)
    if (isLost && !wasLost) {
      log?.error(
        `the database file ${path} was removed or replaced while the service uses it: writes are answered 503, since they would be lost. Put the file and its -wal back, or restart the service to use what is there now`,
      )
    }
    if (!isLost && wasLost) log?.info(`the database file ${path} is back`)
  }

  // A failed check proves nothing; a network file system may be unavailable.
  const looking = startPeriodicTask({ everyMs, work: look, onError: () => {} })
  void look().catch(() => {})

  return { isLost: () => isLost, close: looking.close }
}

export function findIdentitySync(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && toIdentity(found)
}

/**
 * Identities of the database and its -wal, which stays the same file while a connection is open. Call it synchronously
 * after the first read. Returns undefined if the database file is not `created`.
 */
export function identifyOpened(path: string, created: string | undefined): ReadonlyMap<string, string> | undefined {
  const identities = new Map<string, string>()
  for (const file of [path, `${path}-wal`]) {
    const identity = findIdentitySync(file)
    if (identity !== undefined) identities.set(file, identity)
  }
  return created !== undefined && identities.get(path) === created ? identities : undefined
}

async function findIdentity(file: string): Promise<string | undefined> {
  try {
    return toIdentity(await stat(file, { bigint: true }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
