import type { CoreConfig } from '../../config/config.ts'
import { key, optional, type ValuesOf } from '../../config/key.ts'
import { duration, integer, text } from '../../config/readers.ts'

export const backupKeys = {
  backup: {
    folder: optional('backup.folder', text, 'BACKUP_FOLDER'),
    everySeconds: optional('backup.every', duration, 'BACKUP_EVERY'),
    keep: key('backup.keep', integer({ min: 1, max: 10_000 }), 7, 'BACKUP_KEEP'),
  },
}

export type BackupConfig = CoreConfig & ValuesOf<typeof backupKeys>

export function checkBackupConfig({ backup }: BackupConfig): string[] {
  if (backup.everySeconds === undefined || backup.folder !== undefined) return []
  return ['backup.every is set, but backup.folder is not: set BACKUP_FOLDER to the folder that backups are written to']
}
