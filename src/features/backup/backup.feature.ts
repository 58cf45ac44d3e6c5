/** Backup, restore and move of the whole database, and scheduled backups with their page and metrics. */
import { join } from 'node:path'
import { defineFeature } from '../../platform/feature.ts'
import { backupAccess } from './backup.access.ts'
import { backupKeys, checkBackupConfig } from './backup.keys.ts'
import { backupCommands } from './commands/backup-commands.ts'

export const backup = defineFeature({
  name: 'backup',
  migrations: join(import.meta.dirname, 'migrations'),
  config: backupKeys,
  checkConfig: checkBackupConfig,

  create: async (infrastructure) => (await import('./backup.create.ts')).createBackupService(infrastructure),
  // Once per process, also where several threads serve it.
  onListening: async (service) => {
    service.startSchedule()
    return []
  },

  pages: (service) => ({
    navigation: service.isScheduled
      ? [{ path: '/console/backups', name: 'Backups', icon: 'backups', permission: backupAccess.permission, order: 40 }]
      : [],
    overviewCards: [
      {
        order: 40,
        async show(principal) {
          if (!principal.can(backupAccess.permission)) return undefined
          const { backupsCard } = await import('./pages/backups.views.ts')
          const last = await service.findLastProved()
          const { everySeconds, clock } = service
          return backupsCard({ last, everySeconds, nowSeconds: clock.nowSeconds() })
        },
      },
    ],
    routes: (kit) => async (app) =>
      (await import('./pages/backups.routes.ts')).addBackupPages(app, { ...kit, ...service }),
  }),
  commands: backupCommands,
})
