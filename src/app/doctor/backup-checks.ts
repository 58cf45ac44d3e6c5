/** Checks of scheduled backups: can they be written, is there room, and was the last one made and proved. */
import { resolve } from 'node:path'
import { root } from '../../config/root.ts'
import { type Clock, systemClock } from '../../core/clock.ts'
import { type BackupAttempt, lastBackups } from '../../features/backup/backups.store.ts'
import { sqlitePath } from '../../platform/database/open.ts'
import { inspectPostgresTable } from '../../platform/database/postgres/inspect.ts'
import { type FolderState, inspectFolder, inspectSqliteTable } from '../../platform/database/sqlite/inspect.ts'
import type { TableState } from '../../platform/database/table-state.ts'
import type { Config } from '../load-config.ts'
import { type Finding, judge } from './finding.ts'
import { checkSpace } from './space-check.ts'

export async function checkBackups(config: Config, clock: Clock = systemClock): Promise<Finding[]> {
  const { backup, database, features } = config
  const { folder, everySeconds } = backup
  if (features.disabled.includes('backup') || folder === undefined || everySeconds === undefined) return []
  const path = resolve(root, folder)
  const [state, table] = await Promise.all([inspectFolder(path), findBackups(database.url)])
  return [
    checkFolder(path, state),
    // The archive, and the temporary database that proves it.
    checkSpace('backup_space', { ...state, wantedBytes: 2 * (table?.databaseBytes ?? 0) }),
    ...(table ? [checkLast(table.rows, { everySeconds, nowSeconds: clock.nowSeconds() })] : []),
  ]
}

/** Undefined if the database cannot be read, which is a finding of its own. */
async function findBackups(url: string): Promise<TableState<BackupAttempt> | undefined> {
  try {
    return url.startsWith('file:')
      ? inspectSqliteTable<BackupAttempt>(sqlitePath(url, root), lastBackups)
      : await inspectPostgresTable<BackupAttempt>(url, lastBackups)
  } catch {
    return undefined
  }
}

function checkFolder(path: string, { folder, isFolder, isWritable }: FolderState): Finding {
  const advice = isFolder
    ? `${folder} is not writable for this user: change its owner`
    : `${folder} is not a folder: set BACKUP_FOLDER to one`
  return judge('backup_folder', {
    isFine: isFolder && isWritable,
    fine:
      folder === path ? `backups can be written to ${path}` : `${path} does not exist yet; the first backup makes it`,
    otherwise: ['problem', `backups cannot be written to ${path}: ${advice}`],
  })
}

/** `rows` are attempts, the newest first. */
export function checkLast(
  rows: readonly BackupAttempt[] | undefined,
  { everySeconds, nowSeconds }: { everySeconds: number; nowSeconds: number },
): Finding {
  const id = 'backup_age'
  const [newest] = rows ?? []
  if (!newest) return { id, status: 'ok', text: 'no backup was made yet; the service makes the first when it starts' }
  const proved = rows?.find(({ error }) => error === null)
  const ageSeconds = proved && nowSeconds - Number(proved.started_at)
  const isRecent = ageSeconds !== undefined && ageSeconds <= 2 * everySeconds
  const last =
    ageSeconds === undefined ? 'no backup was proved' : `the last proved backup is ${describeAge(ageSeconds)} old`
  if (newest.error !== null) {
    const reason = newest.error.split('\n')[0]
    return { id, status: isRecent ? 'warning' : 'problem', text: `the last backup failed (${reason}), and ${last}` }
  }
  return judge(id, {
    isFine: isRecent,
    fine: last,
    otherwise: [
      'warning',
      `${last}, though BACKUP_EVERY is ${describeAge(everySeconds)}: look whether the service runs`,
    ],
  })
}

function describeAge(seconds: number): string {
  if (seconds < 7200) return `${Math.max(0, Math.floor(seconds / 60))} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`
}
