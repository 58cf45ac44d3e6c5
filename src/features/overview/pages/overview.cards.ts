/** The cards of the overview about the service itself, and about the sign-ins. */
import type { Principal } from '../../../platform/access/route-guards.ts'
import type { Card } from '../../../platform/pages/cards.ts'
import { overviewAccess, signInsPermission } from '../overview.access.ts'
import type { OverviewService } from '../overview.create.ts'
import { nodesCard } from './nodes.views.ts'
import { signInsCard } from './sign-ins.views.ts'
import { storageCard } from './storage.views.ts'
import { trafficCard } from './traffic.views.ts'

export function createOverviewCards({ signIns, nodes, storage, readTraffic }: OverviewService): Card<Principal>[] {
  return [
    {
      order: 30,
      async show(principal) {
        if (!principal.can(overviewAccess.permission)) return undefined
        const [sizes, disk] = await Promise.all([storage.sizes(), storage.disk()])
        return storageCard(sizes, disk)
      },
    },
    {
      order: 60,
      show: async (principal) => (principal.can(signInsPermission) ? signInsCard(await signIns.read()) : undefined),
    },
    {
      order: 70,
      show: async (principal) =>
        principal.can(overviewAccess.permission) ? trafficCard(await readTraffic()) : undefined,
    },
    {
      order: 90,
      show: async (principal) => (principal.can(overviewAccess.permission) ? nodesCard(await nodes.list()) : undefined),
    },
  ]
}
