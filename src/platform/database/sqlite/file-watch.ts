/**
 * Notices that the database file was removed or replaced under the running service. The open file is then another than
 * the one at its path: what is written to it is gone when the process ends.
 */
import { type BigIntStats, fstatSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { startPeriodicTask } from '../../../core/periodic-task.ts'
import type { Log } from '../../log/logger.ts'

export interface SqliteFileWatch {
  /** Whether the file at the path is not the one that is open. */
  isLost(): boolean
  close(): Promise<void>
}

export interface SqliteFileWatchOptions {
  path: string
  /** Of the files that were opened, by their paths. */
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

  // A look that fails, as on a network file system that is away, tells nothing.
  const looking = startPeriodicTask({ everyMs, work: look, onError: () => {} })
  void look().catch(() => {})

  return { isLost: () => isLost, close: looking.close }
}

/** Of a file that is open. */
export function identityOf(descriptor: number): string {
  return toIdentity(fstatSync(descriptor, { bigint: true }))
}

/**
 * Of the database and of its -wal, which stays the same as long as a connection is open. Right after a connection has read:
 * nothing else of ours runs in between. Undefined where the database is another than `created`.
 */
export function identifyOpened(path: string, created: string): ReadonlyMap<string, string> | undefined {
  const identities = new Map<string, string>()
  for (const file of [path, `${path}-wal`]) {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    if (found) identities.set(file, toIdentity(found))
  }
  return identities.get(path) === created ? identities : undefined
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

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}
