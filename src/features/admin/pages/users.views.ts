import type { PageMeta } from '../../../platform/http/paging.ts'
import type { SortedPage } from '../../../platform/listing/sorted-list.store.ts'
import {
  type Column,
  columnChoices,
  columnTable,
  type LeadingColumn,
} from '../../../platform/pages/components/columns.ts'
import { emptyList } from '../../../platform/pages/components/empty-list.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { selectField } from '../../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  listAddress,
  positionAddress,
  type ShownList,
} from '../../../platform/pages/components/list-links.ts'
import { pageJump } from '../../../platform/pages/components/page-jump.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'
import { bulkActs } from './bulk.views.ts'
import { userColumns } from './user-columns.ts'

export interface UsersView {
  /** Either a page by its number, or a page of who is sorted and filtered. */
  listed?: { users: readonly ListedUser[]; meta: PageMeta }
  sorted?: SortedPage<ListedUser>
  /** What is wrong with the query. */
  problem?: string | undefined
  q: string
  /** The parameters of the address, without the position. */
  query: ListParameters
  sort: ShownList['sort']
  chosen: readonly Column<ListedUser>[]
  /** The names of all roles. */
  roles: readonly string[]
  canChange: boolean
}

const path = '/console/users'

export function usersPage(view: UsersView): Page {
  const { listed, sorted, query, canChange } = view
  const users = listed?.users ?? sorted?.rows ?? []
  return {
    title: 'Users',
    styles: ['administration.css'],
    content: html`<div class="row head"><h1>Users</h1>
<a class="button end" href="${listAddress(`${path}/export`, query)}" download>Download as CSV</a>${
      canChange && html`<a class="button main" href="${path}/invite" data-new>Invite</a>`
    }</div>
${form(view)}
<p id="count" class="soft" role="status">${countOf(view)}</p>
<div id="results">
${users.length > 0 ? table(users, view) : empty(view)}
${users.length > 0 && listed && html`${pager(path, listed.meta, query)}${pageJump(path, listed.meta, query)}`}
${users.length > 0 && sorted && cursorPager(listOf(view), sorted)}
</div>`,
  }
}

const listOf = ({ query, sort }: UsersView): ShownList => ({ path, query, sort })

function form({ q, query, roles, chosen, listed }: UsersView): Html {
  const isOpen = listed === undefined || query.columns !== undefined
  return html`<form class="list-form" role="search" action="${path}">
<div class="search">
${field({ label: 'Email or name', name: 'q', type: 'search', value: q, maxlength: 255, autocomplete: 'off' })}
<button>Search</button>
${q !== '' && html`<a class="button quiet" href="${path}">Show all</a>`}
</div>
<details class="orders"${isOpen && html` open`}><summary>Filter, order and columns</summary>
<div class="fields">
${selectField({ label: 'Status', name: 'filter[status]', query }, [
  ['', 'All'],
  ['active', 'Not disabled'],
  ['disabled', 'Disabled'],
  ['locked', 'Locked out'],
  ['invited', 'Invited'],
])}
${selectField({ label: 'Role', name: 'filter[role]', query }, [['', 'All'], ...roles.map((name) => [name, name] as const)])}
${selectField({ label: 'Two-factor', name: 'filter[two_factor]', query }, [
  ['', 'On or off'],
  ['true', 'On'],
  ['false', 'Off'],
])}
${selectField({ label: 'Order', name: 'sort', query }, [
  ['', 'Oldest first'],
  ['-created_at', 'Newest first'],
  ['email', 'Email'],
  ['-email', 'Email, from Z to A'],
  ['name', 'Name'],
  ['-name', 'Name, from Z to A'],
])}
${columnChoices(userColumns, chosen)}
<p class="row"><button class="main">Show</button> <a href="${path}">Show all, oldest first</a></p>
</div></details>
</form>`
}

function countOf({ listed, sorted, problem, query }: UsersView): Html | string {
  if (problem !== undefined) return 'Nobody is shown'
  const total = listed?.meta.total ?? sorted?.total
  if (total === null || total === undefined) {
    return html`Many users; not counted. <a href="${listAddress(path, { ...query, count: 'exact' })}">Count them</a>`
  }
  if (total === 0) return 'Nobody found'
  return `${total.toLocaleString('en')} ${total === 1 ? 'user' : 'users'}`
}

function table(rows: readonly ListedUser[], view: UsersView): Html {
  const { chosen, canChange, query } = view
  const lines = html`<div class="card list lines${chosen.length > 6 && ' many'}">
${columnTable({ rows, chosen, list: listOf(view), leading: canChange ? checkboxes : undefined })}
</div>`
  return canChange ? bulkActs(lines, query) : lines
}

const checkboxes: LeadingColumn<ListedUser> = {
  head: html`<th scope="col">Select</th>`,
  cell: ({ id, email }) =>
    html`<td class="select"><input type="checkbox" name="users" value="${id}" aria-label="Select ${email}"></td>\n`,
}

function empty(view: UsersView): Html {
  const { q, listed, sorted, problem, query } = view
  if (problem === undefined && listed && listed.meta.total > 0) return beyondLast(path, listed.meta, query)
  if (problem === undefined && listed)
    return html`<div class="card empty"><h2>Nobody found</h2>
<p>No email and no name has “${q}” in it.</p></div>`
  const onward = sorted?.next && positionAddress(listOf(view), sorted.next)
  return emptyList({ none: 'Nobody', one: 'user', many: 'users', problem, onward })
}
