/** Makes a process the only one that serves its SQLite file, until the process ends. PostgreSQL may have several nodes. */
import type { CoreConfig } from '../config/config.ts'
import { root } from '../config/root.ts'
import { findSqlitePath } from '../platform/database/open.ts'
import { lockBesideService, lockForService } from '../platform/database/sqlite/service-lock.ts'

/** `isBeside`: another process may serve the file too, because Redis shares topics and rate limits between them. */
export function lockServedFile({ database }: CoreConfig, { isBeside = false } = {}): void {
  const path = findSqlitePath(database.url, root)
  if (path === undefined) return
  if (isBeside) lockBesideService(path)
  else lockForService(path)
}
