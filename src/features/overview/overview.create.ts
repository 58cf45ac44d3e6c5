import { hostname } from 'node:os'
import { root } from '../../config/root.ts'
import { readVersion } from '../../config/version.ts'
import { findSqlitePath } from '../../platform/database/open.ts'
import { createStorage } from '../../platform/database/storage.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createNodeStore } from './nodes.store.ts'
import { createNodes } from './nodes.ts'
import { createSignInStore } from './sign-in-days.store.ts'
import { createSignInDays } from './sign-in-days.ts'
import { toTraffic } from './traffic.ts'

export type OverviewService = ReturnType<typeof createOverviewService>

export function createOverviewService(infrastructure: Infrastructure) {
  const { config, db, clock, log, nodeId, readRecentRequests = async () => [], onClose } = infrastructure
  const nodes = createNodes({
    store: db.dialect === 'postgres' ? createNodeStore(db) : undefined,
    clock,
    log,
    self: { id: nodeId, name: hostname(), version: readVersion() },
    countThreads: async () => (await readRecentRequests()).length,
  })
  return {
    signIns: createSignInDays({ store: createSignInStore(db), clock }),
    nodes,
    storage: createStorage(db, findSqlitePath(config.database.url, root)),
    readTraffic: async () => toTraffic(await readRecentRequests()),

    /** Says that the node is there, until it closes. */
    join(): void {
      const running = nodes.start()
      onClose(() => running.close())
    },
  }
}
