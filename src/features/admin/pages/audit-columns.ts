/** What a line of the audit trail shows. */
import type { Column } from '../../../platform/pages/components/columns.ts'
import { device } from '../../../platform/pages/components/devices.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import { type AuditRow, withoutPersonalData } from '../audit-trail.store.ts'
import { wordsOfChanges, wordsOfOutcome } from './audit-words.ts'

export interface AuditReader {
  /** May see emails, and the pages of users. */
  canSeeUsers: boolean
  describe(event: string): string
}

export function auditColumns({ canSeeUsers, describe }: AuditReader): Column<AuditRow>[] {
  const user = ({ user_id, email }: AuditRow) => userLink(user_id, email, canSeeUsers)
  const actor = ({ actor_id, actor_email }: AuditRow) => userLink(actor_id, actor_email, canSeeUsers)
  return [
    { name: 'at', label: 'When', className: 'at', sort: 'at', cell: ({ at }) => time(at) },
    {
      name: 'event',
      label: 'Event',
      className: 'lead',
      cell: (row) =>
        html`<span title="${row.event}">${describe(row.event)}</span>${changesOf(canSeeUsers ? row : withoutPersonalData(row))}`,
    },
    { name: 'user', label: 'User', className: 'user', cell: (row) => html`${user(row)}${byOther(row, actor(row))}` },
    {
      name: 'outcome',
      label: 'Outcome',
      className: 'tail',
      cell: ({ outcome }) => html`<span class="badge${toneOf(outcome)}">${wordsOfOutcome(outcome)}</span>`,
    },
    { name: 'address', label: 'Address', className: 'address', cell: ({ address }) => breakable(address) },
    { name: 'device', label: 'Device', className: 'device', cell: ({ user_agent }) => device(user_agent) },
    {
      name: 'actor',
      label: 'By',
      className: 'user',
      isExtra: true,
      cell: (row) => (row.actor_id === null ? html`<span class="soft">${whoElse(row)}</span>` : actor(row)),
    },
  ]
}

function changesOf({ changes }: AuditRow): Html[] {
  return wordsOfChanges(changes).map((text) => html`<br><span class="change">${text}</span>`)
}

/** Shown below the user if they differ. */
function byOther(row: AuditRow, actor: Html | string): Html | false {
  if (row.actor_id === null) return row.address === 'local' && html`<br><span class="soft">by the command line</span>`
  return row.actor_id !== row.user_id && html`<br><span class="soft">by ${actor}</span>`
}

/** Where no signed-in user did it. */
function whoElse({ address, outcome }: AuditRow): string {
  if (address === 'local') return 'The command line'
  return outcome === 'success' ? 'The service' : 'Not signed in'
}

function userLink(id: number | null, email: string | null, canSeeUsers: boolean): Html | string {
  if (id === null) return html`<span class="soft">–</span>`
  return canSeeUsers && email !== null ? html`<a href="/console/users/${id}">${email}</a>` : `User ${id}`
}

/** A long address goes on in the next line after a colon. */
function breakable(address: string): Html {
  return html`${address.split(':').map((part, i) => html`${i > 0 && html`:<wbr>`}${part}`)}`
}

function toneOf(outcome: string): string {
  if (outcome === 'success') return ' good'
  return ['failure', 'locked', 'reuse', 'refused'].includes(outcome) ? ' bad' : ''
}
