/**
 * The search over the whole console: pages, actions, and what the features find. It is a page of its own, which the
 * command palette (palette.js) shows in a dialog.
 */
import type { FastifyInstance } from 'fastify'
import { type Principal, principalOf } from '../../access/route-guards.ts'
import { Type } from '../../validation/schema-builder.ts'
import { field } from '../components/forms.ts'
import { type IconName, icon } from '../components/icons.ts'
import { type Html, html } from '../html.ts'
import type { Page, SendPage } from '../pages.ts'
import { accountEntry, entriesFor, type NavigationEntry } from './navigation.ts'

/** A page where something can be done, such as the form of a new product. */
export interface Action {
  path: string
  name: string
  /** Everybody may by default. */
  may?(principal: Principal): boolean
}

export interface Found {
  path: string
  name: string
  /** What tells it from others of the same name. */
  hint?: string
}

export interface Finder {
  /** Above what is found. */
  heading: string
  icon: IconName
  /** Everybody may by default. */
  may?(principal: Principal): boolean
  /** Returns a few that this user may see. The text is not blank. */
  find(text: string, principal: Principal): Promise<readonly Found[]>
}

/** What a feature adds to the search. */
export interface Findable {
  actions?: readonly Action[]
  finders?: readonly Finder[]
}

interface Group {
  heading: string
  icon: IconName
  entries: readonly Found[]
}

interface SearchParts {
  send: SendPage
  navigation: readonly NavigationEntry[]
  pages: readonly Findable[]
}

const maxText = 200
const ownActions: readonly Action[] = [{ path: '/console/shortcuts', name: 'Keyboard shortcuts' }]

export function addSearch(app: FastifyInstance, { send, navigation, pages }: SearchParts): void {
  const actions = [...pages.flatMap((each) => each.actions ?? []), ...ownActions]
  const finders = pages.flatMap((each) => each.finders ?? [])

  async function find(text: string, principal: Principal): Promise<Group[]> {
    const mayUse = (each: Pick<Action, 'may'>) => each.may?.(principal) ?? true
    const own: Group[] = [
      { heading: 'Pages', icon: 'page', entries: matching([...entriesFor(principal, navigation), accountEntry], text) },
      { heading: 'Actions', icon: 'action', entries: matching(actions.filter(mayUse), text) },
    ]
    const found = finders.filter(mayUse).map(async ({ heading, icon: picture, find: ask }) => {
      return { heading, icon: picture, entries: text === '' ? [] : await ask(text, principal) }
    })
    return [...own, ...(await Promise.all(found))].filter(({ entries }) => entries.length > 0)
  }

  app.get(
    '/search',
    {
      config: { access: 'authenticated', docs: false },
      schema: { querystring: Type.Object({ q: Type.Optional(Type.String()) }) },
    },
    async (request, reply) => {
      const text = (request.query.q ?? '').trim().slice(0, maxText)
      return send(request, reply, searchPage(text, await find(text, principalOf(request))))
    },
  )
}

function matching<T extends Found>(entries: readonly T[], text: string): readonly Found[] {
  const wanted = text.toLowerCase()
  return entries.filter(({ name }) => name.toLowerCase().includes(wanted))
}

function searchPage(text: string, groups: readonly Group[]): Page {
  return {
    title: 'Search',
    content: html`<h1>Search</h1>
<form class="card filter" method="get" action="/console/search" role="search">
${field({ label: 'Search the console', name: 'q', type: 'search', value: text, maxlength: maxText, autofocus: true })}
<button>Search</button>
</form>
<div id="found" class="found">
${groups.map(section)}
${groups.length === 0 && html`<p class="soft">Nothing has “${text}” in its name.</p>`}
</div>`,
  }
}

function section({ heading, icon: picture, entries }: Group): Html {
  const id = `found-${heading.toLowerCase()}`
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
<ul>
${entries.map(
  ({ path, name, hint }) =>
    html`<li><a href="${path}">${icon(picture)} <span class="name">${name}</span>${hint !== undefined && html` <span class="soft">${hint}</span>`}</a></li>`,
)}
</ul>
</section>`
}
