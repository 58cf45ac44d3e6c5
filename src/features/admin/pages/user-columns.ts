/** What a line of the list of users shows. */
import { badges } from '../../../platform/pages/components/badges.ts'
import type { Column } from '../../../platform/pages/components/columns.ts'
import { time, timeOfSeconds } from '../../../platform/pages/components/times.ts'
import { html } from '../../../platform/pages/html.ts'
import type { ListedUser } from '../admin.store.ts'

const none = html`<span class="soft">–</span>`

export const userColumns: readonly Column<ListedUser>[] = [
  {
    name: 'email',
    label: 'Email',
    className: 'title user lead',
    sort: 'email',
    cell: ({ id, email, disabled_at }) =>
      html`<a href="/console/users/${id}">${email}</a>${disabled_at !== null && html` <span class="badge bad">Disabled</span>`}`,
  },
  { name: 'name', label: 'Name', className: 'name', sort: 'name', cell: ({ name }) => (name === '' ? none : name) },
  { name: 'roles', label: 'Roles', cell: ({ roles }) => (roles.length === 0 ? none : html`${badges(roles)}`) },
  {
    name: 'two_factor',
    label: 'Two-factor',
    cell: ({ two_factor }) => (two_factor ? html`<span class="badge good">On</span>` : 'Off'),
  },
  {
    name: 'locked_until',
    label: 'Locked until',
    className: 'locked',
    cell: ({ locked_until }) =>
      locked_until === null ? none : html`<span class="badge bad">${timeOfSeconds(locked_until)}</span>`,
  },
  { name: 'created_at', label: 'Registered', sort: 'created_at', cell: ({ created_at }) => time(created_at) },
  {
    name: 'email_verified_at',
    label: 'Email verified',
    isExtra: true,
    cell: ({ email_verified_at }) => (email_verified_at === null ? 'No' : time(email_verified_at)),
  },
  { name: 'id', label: 'Number', isExtra: true, cell: ({ id }) => String(id) },
]
