export const backupAccess = { permission: 'backups.view' } as const
