import type { PageMeta } from '../../../platform/http/paging.ts'
import { badges } from '../../../platform/pages/components/badges.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { time, timeOfSeconds } from '../../../platform/pages/components/times.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'

export interface UsersView {
  users: readonly ListedUser[]
  q: string
  meta: PageMeta
  canInvite: boolean
}

const path = '/console/users'

export function usersPage({ users, q, meta, canInvite }: UsersView): Page {
  const query = q === '' ? {} : { q }
  return {
    title: 'Users',
    content: html`<div class="row head"><h1>Users</h1>${canInvite && html`<a class="button main end" href="${path}/invite">Invite</a>`}</div>
<form class="search" role="search" action="${path}">
${field({ label: 'Email or name', name: 'q', type: 'search', value: q, maxlength: 255, autocomplete: 'off' })}
<button>Search</button>
${q !== '' && html`<a class="button quiet" href="${path}">Show all</a>`}
</form>
${users.length > 0 && html`${table(users)}${pager(path, meta, query)}`}
${users.length === 0 && (meta.total > 0 ? beyondLast(path, meta, query) : nobodyFound(q))}`,
  }
}

function nobodyFound(q: string) {
  return html`<div class="card empty"><h2>Nobody found</h2>
<p>No email and no name has “${q}” in it.</p></div>`
}

function table(users: readonly ListedUser[]) {
  return html`<div class="card list"><table class="stack people">
<thead><tr><th scope="col">Email</th><th scope="col">Name</th><th scope="col">Roles</th><th scope="col">Two-factor</th><th scope="col">Locked until</th><th scope="col">Registered</th></tr></thead>
<tbody>
${users.map(row)}
</tbody>
</table></div>`
}

const none = html`<span class="soft">–</span>`

function row({ id, email, name, roles, two_factor, locked_until, disabled_at, created_at }: ListedUser) {
  return html`<tr>
<td class="title"><a href="${path}/${id}">${email}</a>${disabled_at !== null && html` <span class="badge bad">Disabled</span>`}</td>
<td data-label="Name">${name === '' ? none : name}</td>
<td data-label="Roles"><span>${roles.length === 0 ? none : badges(roles)}</span></td>
<td data-label="Two-factor">${two_factor ? html`<span class="badge good">On</span>` : 'Off'}</td>
<td data-label="Locked until">${locked_until === null ? none : html`<span class="badge bad">${timeOfSeconds(locked_until)}</span>`}</td>
<td data-label="Registered">${time(created_at)}</td>
</tr>
`
}
