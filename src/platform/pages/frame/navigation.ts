/** The bar at the side of the console, and the one above the pages for people who are not signed in. */
import type { Principal } from '../../access/route-guards.ts'
import { type IconName, icon } from '../components/icons.ts'
import { type Html, html } from '../html.ts'

/** An entry of the navigation bar. */
export interface NavigationEntry {
  path: string
  name: string
  /** Beside the name; a plain page by default. */
  icon?: IconName
  /** The letter that leads here after G. */
  key?: string
  /** The entry is hidden from users without it. */
  permission?: string
  /** The same for what no single permission says. */
  may?(principal: Principal): boolean
  /** Ascending from the top; 100 by default. The first that a user may see is the page after signing in. */
  order?: number
}

/** Not in the bar, but in the menu of the person. */
export const accountEntry: NavigationEntry = { path: '/console/account', name: 'Account' }

export interface SideBar {
  principal: Principal
  /** Of the page that is shown. */
  path: string
  navigation: readonly NavigationEntry[]
  hasPlayground: boolean
}

export function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

export function entriesFor(principal: Principal, navigation: readonly NavigationEntry[]): readonly NavigationEntry[] {
  return navigation.filter(
    ({ permission, may }) => (permission === undefined || principal.can(permission)) && (may?.(principal) ?? true),
  )
}

export function sideBar({ principal, path, navigation, hasPlayground }: SideBar): Html {
  const current = (place: string) => isBelow(path, place) && html` aria-current="page"`
  return html`<a class="find" href="/console/search"${current('/console/search')}>${icon('search')} Search <kbd>Ctrl K</kbd></a>
<nav aria-label="Main"><ul>
${entriesFor(principal, navigation).map(
  ({ path: place, name, key, icon: picture = 'page' }) =>
    html`<li><a href="${place}"${current(place)}${key !== undefined && html` data-key="${key}"`}>${icon(picture)} ${name}</a></li>`,
)}
</ul></nav>
<nav aria-label="For developers"><ul>
<li><a href="/docs">${icon('api')} API</a></li>
${hasPlayground && html`<li><a href="/graphiql">${icon('graphql')} GraphQL</a></li>`}
</ul></nav>
<p id="network" class="network scripted" data-state="online">Connected</p>`
}

export function guestBar(navigation: readonly NavigationEntry[], hasPlayground: boolean): Html {
  return html`<nav aria-label="Main"><ul>
${navigation.map(({ path, name }) => html`<li><a href="${path}">${name}</a></li>`)}
<li><a href="/docs">API</a></li>${hasPlayground && html`<li><a href="/graphiql">GraphQL</a></li>`}
</ul></nav>`
}
