/** The page of the audit trail, newest first. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../../platform/access/route-guards.ts'
import { metaOf, type PageMeta, pageOf } from '../../../platform/http/paging.ts'
import { device } from '../../../platform/pages/components/devices.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { time } from '../../../platform/pages/components/times.ts'
import type { PageKit } from '../../../platform/pages/console-pages.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { mayAudit, permissions } from '../admin.access.ts'
import type { AdminService } from '../admin.create.ts'
import type { AuditRow } from '../admin.store.ts'
import { wordsOfChange, wordsOfOutcome } from './audit-words.ts'

const path = '/console/audit'
const config = { access: mayAudit, docs: false } as const

export function addAuditPages(app: FastifyInstance, { admin, describeEvent, send }: PageKit & AdminService): void {
  app.get('/audit', { config }, async (request, reply) => {
    const page = pageOf(request.query)
    const { rows, total } = await admin.listAudit(page)
    const canSeeUsers = principalOf(request).can(permissions.viewUsers)
    return send(request, reply, auditPage({ rows, meta: metaOf(page, total), canSeeUsers, describeEvent }))
  })
}

interface AuditView {
  rows: readonly AuditRow[]
  meta: PageMeta
  canSeeUsers: boolean
  describeEvent(event: string): string
}

function auditPage(view: AuditView): Page {
  const { rows, meta } = view
  return {
    title: 'Audit trail',
    content: html`<h1>Audit trail</h1>
${rows.length === 0 ? beyondLast(path, meta) : html`${table(view)}${pager(path, meta)}`}`,
  }
}

function table({ rows, canSeeUsers, describeEvent }: AuditView) {
  return html`<div class="card list"><table class="stack people">
<thead><tr><th scope="col">When</th><th scope="col">Event</th><th scope="col">User</th><th scope="col">Outcome</th><th scope="col">Address</th><th scope="col">Device</th></tr></thead>
<tbody>
${rows.map(
  (row) => html`<tr>
<td data-label="When">${time(row.at)}</td>
<td data-label="Event" title="${row.event}"><span>${describeEvent(row.event)}${changesOf(row)}</span></td>
<td data-label="User" class="user"><span>${userLink(row.user_id, row.email, canSeeUsers)}${actorOf(row, canSeeUsers)}</span></td>
<td data-label="Outcome"><span class="badge${toneOf(row.outcome)}">${wordsOfOutcome(row.outcome)}</span></td>
<td data-label="Address" class="address">${row.address}</td>
<td data-label="Device">${device(row.user_agent)}</td>
</tr>
`,
)}
</tbody>
</table></div>`
}

function changesOf({ changes }: AuditRow) {
  return Object.entries(changes ?? {}).map(
    ([field, change]) => html`<br><span class="soft">${wordsOfChange(field, change)}</span>`,
  )
}

/** Shown below the user if they differ. */
function actorOf(row: AuditRow, canSeeUsers: boolean) {
  if (row.actor_id === null) return row.address === 'local' && html`<br><span class="soft">by the command line</span>`
  const { actor_id: id, actor_email: email } = row
  return id !== row.user_id && html`<br><span class="soft">by ${userLink(id, email, canSeeUsers)}</span>`
}

function userLink(id: number | null, email: string | null, canSeeUsers: boolean) {
  if (id === null) return html`<span class="soft">–</span>`
  return canSeeUsers && email !== null ? html`<a href="/console/users/${id}">${email}</a>` : `User ${id}`
}

function toneOf(outcome: string): string {
  if (outcome === 'success') return ' good'
  return ['failure', 'locked', 'reuse', 'refused'].includes(outcome) ? ' bad' : ''
}
