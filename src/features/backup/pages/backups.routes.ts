/** The page of scheduled backups, newest first. */
import type { FastifyInstance } from 'fastify'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { backupAccess } from '../backup.access.ts'
import type { BackupService } from '../backup.create.ts'
import { backupsPage } from './backups.views.ts'

const config = { access: backupAccess, docs: false } as const

export function addBackupPages(
  app: FastifyInstance,
  { send, list, clock, everySeconds }: PageKit & BackupService,
): void {
  app.get('/backups', { config }, async (request, reply) =>
    send(request, reply, backupsPage({ rows: await list(), nowSeconds: clock.nowSeconds(), everySeconds })),
  )
}
