/** Users on the overview. */
import type { Principal } from '../../../platform/access/route-guards.ts'
import type { Card } from '../../../platform/pages/cards.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatNumber } from '../../../platform/pages/components/numbers.ts'
import { html } from '../../../platform/pages/html.ts'
import { permissions } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'

export function createUserCards({ countUsers }: AdminService): Card<Principal>[] {
  return [
    {
      order: 20,
      async show(principal) {
        if (!principal.can(permissions.viewUsers)) return undefined
        return html`<section class="card" aria-labelledby="users">
<h2 id="users">Users</h2>
${figureList([[formatNumber(await countUsers()), 'Users in all']])}
<p class="beside"><a href="/console/users">All users</a></p>
</section>`
      },
    },
  ]
}
