import { isAbsolute, join } from 'node:path'
import { root } from '../../config/root.ts'
import { readVersion } from '../../config/version.ts'
import { runInArchiveThread } from '../../platform/archive/archive-task.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import type { BackupConfig } from './backup.keys.ts'
import { createBackupFiles } from './backup-files.ts'
import { addBackupMetrics } from './backup-metrics.ts'
import { createBackupsStore } from './backups.store.ts'
import { createSchedule, type ScheduleDeps } from './schedule.ts'

export type BackupService = ReturnType<typeof createBackupService>

export function createBackupService(infrastructure: Infrastructure<BackupConfig>) {
  const { config, db, clock, log, random, metrics, onClose } = infrastructure
  const { everySeconds, folder, keep } = config.backup
  const store = createBackupsStore(db)

  function createScheduleFor(schedule: { folder: string; everySeconds: number }) {
    const files = createBackupFiles(isAbsolute(schedule.folder) ? schedule.folder : join(root, schedule.folder))
    const make = createMake(infrastructure, files.folder)
    return createSchedule({
      store,
      files,
      clock,
      log,
      everySeconds: schedule.everySeconds,
      keep,
      holder: random.id(),
      make,
    })
  }

  const schedule =
    everySeconds !== undefined && folder !== undefined ? createScheduleFor({ folder, everySeconds }) : undefined
  if (schedule && metrics) addBackupMetrics(metrics, { store, clock })

  return {
    isScheduled: schedule !== undefined,
    everySeconds,
    clock,
    schedule,
    list: store.list,
    findLastProved: store.findLastProved,

    /** Whether backups are made, and the last one could be restored. */
    async isHealthy(): Promise<boolean> {
      if (everySeconds === undefined) return false
      const last = await store.findLastProved()
      return last !== undefined && clock.nowSeconds() - last.started_at <= 2 * everySeconds
    },

    startSchedule(): void {
      const running = schedule?.start()
      if (running) onClose(() => running.close())
    },
  }
}

function createMake({ config, schema }: Infrastructure<BackupConfig>, folder: string): ScheduleDeps['make'] {
  const { migrations, countedLists, expiringTables } = schema
  return (file, signal) =>
    runInArchiveThread(
      {
        from: { url: config.database.url, root, schema: { migrations, countedLists, expiringTables } },
        version: readVersion(),
        file,
        folder,
      },
      signal,
    )
}
