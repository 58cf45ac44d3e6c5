import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { html } from '../../../platform/pages/html.ts'
import { overviewAccess } from '../overview.access.ts'

const config = { access: overviewAccess, docs: false } as const

export function addOverviewPage(app: FastifyInstance, { send, cards }: PageKit): void {
  app.get('/overview', { config }, async (request, reply) => {
    const shown = await cards.ofOverview(principalOf(request), request)
    return send(request, reply, {
      title: 'Overview',
      content: html`<h1>Overview</h1>
<div class="overview">
${shown}
</div>`,
      styles: ['overview.css'],
    })
  })
}
