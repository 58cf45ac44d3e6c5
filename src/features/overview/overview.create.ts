import { root } from '../../config/root.ts'
import { findSqlitePath } from '../../platform/database/open.ts'
import { createStorage } from '../../platform/database/storage.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createSignInStore } from './sign-in-days.store.ts'
import { createSignInDays } from './sign-in-days.ts'
import { toTraffic } from './traffic.ts'

export type OverviewService = ReturnType<typeof createOverviewService>

export function createOverviewService(infrastructure: Infrastructure) {
  const { config, db, clock, nodes, readRecentRequests = async () => [] } = infrastructure
  return {
    signIns: createSignInDays({ store: createSignInStore(db), clock }),
    nodes,
    storage: createStorage(db, findSqlitePath(config.database.url, root)),
    readTraffic: async () => toTraffic(await readRecentRequests()),
  }
}
