import { root } from '../config/root.ts'
import { findSqlitePath } from '../platform/database/open.ts'
import { createStorage } from '../platform/database/storage.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { OpenInfrastructure } from './infrastructure.ts'

export function addStorageGauges(metrics: Metrics, { db, config }: Pick<OpenInfrastructure, 'db' | 'config'>): void {
  const storage = createStorage(db, findSqlitePath(config.database.url, root))
  metrics.addGauge({
    name: 'database_size_bytes',
    help: 'Size of the database; on SQLite also of its write-ahead log.',
    label: 'part',
    // All threads have the same database.
    aggregator: 'first',
    read: storage.sizes,
  })
  if (db.dialect === 'postgres') return
  metrics.addGauge({
    name: 'database_disk_bytes',
    help: 'Room on the file system of the SQLite file: what is free for the service, and all of it.',
    label: 'room',
    aggregator: 'first',
    read: storage.disk,
  })
}
