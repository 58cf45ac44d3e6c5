/**
 * Notices that the database file was removed or replaced under the running service. The open file is then another than
 * the one at its path: what is written to it is gone when the process ends.
 */
import { stat } from 'node:fs/promises'
import { repeat } from '../../core/repeat.ts'
import type { Log } from '../log/logger.ts'

export interface SqliteFileWatch {
  /** Whether the file at the path is not the one that is open. */
  isLost(): boolean
  /** A write was committed: from now on there is a -wal, and it stays the same as long as a connection is open. */
  noteWritten(): void
  close(): Promise<void>
}

const everyMs = 1000

export function watchSqliteFile(path: string, log: Pick<Log, 'error' | 'info'> | undefined): SqliteFileWatch {
  const files = new Set([path])
  /** The files as they were first seen. */
  const identities = new Map<string, string>()
  let isLost = false

  async function look(): Promise<void> {
    const areOthers = await Promise.all([...files].map(isOther))
    const wasLost = isLost
    isLost = areOthers.includes(true)
    if (isLost && !wasLost) {
      log?.error(
        `the database file ${path} was removed or replaced while the service uses it: writes are answered 503, since they would be lost. Put the file and its -wal back, or restart the service to use what is there now`,
      )
    }
    if (!isLost && wasLost) log?.info(`the database file ${path} is back`)
  }

  async function isOther(file: string): Promise<boolean> {
    const found = await stat(file, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    })
    const identity = found && `${found.dev}:${found.ino}`
    const known = identities.get(file)
    if (known === undefined && identity !== undefined) identities.set(file, identity)
    return known !== undefined && identity !== known
  }

  // A look that fails, as on a network file system that is away, tells nothing.
  const looking = repeat({ everyMs, work: look, onError: () => {} })
  void look().catch(() => {})

  return {
    isLost: () => isLost,
    noteWritten: () => void files.add(`${path}-wal`),
    close: looking.close,
  }
}
