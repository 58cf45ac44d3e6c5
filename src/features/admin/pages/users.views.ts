import type { PageMeta } from '../../../platform/http/paging.ts'
import type { SortedPage } from '../../../platform/listing/sorted-list.store.ts'
import { type Column, columnForm, columnTable } from '../../../platform/pages/components/columns.ts'
import { emptyList } from '../../../platform/pages/components/empty-list.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { countLine } from '../../../platform/pages/components/list-counts.ts'
import { hiddenFields, selectField } from '../../../platform/pages/components/list-fields.ts'
import {
  cursorPager,
  type ListParameters,
  listAddress,
  positionAddress,
  type ShownList,
  wholeListAddress,
} from '../../../platform/pages/components/list-links.ts'
import { pageJump } from '../../../platform/pages/components/page-jump.ts'
import { beyondLast, pager } from '../../../platform/pages/components/pager.ts'
import { pickCell, pickHead } from '../../../platform/pages/components/row-picks.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'
import { userBulkBar, userWords } from './bulk.views.ts'
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
  isPicked: boolean
  /** The names of all roles. */
  roles: readonly string[]
  canChange: boolean
}

const path = '/console/users'

export function usersPage(view: UsersView): Page {
  const { listed, sorted, query, chosen, canChange } = view
  const users = listed?.users ?? sorted?.rows ?? []
  return {
    title: 'Users',
    styles: ['tables.css'],
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
${users.length > 0 && html`<div class="row foot">${columnForm({ path, query, columns: userColumns, chosen })}</div>`}
</div>`,
  }
}

const listOf = ({ query, sort }: UsersView): ShownList => ({ path, query, sort })

function form({ q, query, roles, listed }: UsersView): Html {
  const isOpen = listed === undefined
  return html`<form class="list-form" role="search" action="${path}">
${query.columns !== undefined && hiddenFields({ columns: query.columns })}
<div class="search">
${field({ label: 'Email or name', name: 'q', type: 'search', value: q, maxlength: 255, autocomplete: 'off' })}
<button>Search</button>
${q !== '' && html`<a class="button quiet" href="${wholeListAddress(path, query)}">Show all</a>`}
</div>
<details class="orders"${isOpen && html` open`}><summary>Sort and filter</summary>
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
<p class="row"><button class="main">Show</button> <a href="${wholeListAddress(path, query)}">Show all, oldest first</a></p>
</div></details>
</form>`
}

function countOf({ listed, sorted, problem, query }: UsersView): Html | string {
  const total = listed?.meta.total ?? sorted?.total ?? null
  return countLine(userWords, { total, problem, exact: listAddress(path, { ...query, count: 'exact' }) })
}

function table(rows: readonly ListedUser[], view: UsersView): Html {
  const { chosen, canChange, query, isPicked } = view
  const leading = {
    head: pickHead(),
    cell: ({ id, email }: ListedUser) => pickCell({ value: String(id), label: email, isPicked }),
  }
  return html`${canChange && userBulkBar(query)}
<div class="card list lines${chosen.length > 6 && ' many'}">
${columnTable({ rows, chosen, list: listOf(view), leading: canChange ? leading : undefined })}
</div>`
}

function empty(view: UsersView): Html {
  const { q, listed, sorted, problem, query } = view
  if (problem === undefined && listed && listed.meta.total > 0) return beyondLast(path, listed.meta, query)
  if (problem === undefined && listed)
    return html`<div class="card empty"><h2>Nobody found</h2>
<p>No email and no name has “${q}” in it.</p></div>`
  const onward = sorted?.next && positionAddress(listOf(view), sorted.next)
  return emptyList({ ...userWords, problem, onward })
}
