/** The way from an entry of the navigation to the page that is shown. Pages at the top have none. */
import { type Html, html } from '../html.ts'
import type { Trail } from '../pages.ts'
import { accountEntry, isBelow, type NavigationEntry } from './navigation.ts'

export interface Breadcrumb {
  path: string
  title: string
  navigation: readonly NavigationEntry[]
  /** The pages between. */
  trail: Trail | undefined
}

export function breadcrumb({ path, title, navigation, trail = [] }: Breadcrumb): Html | false {
  const top = [...navigation, accountEntry].find((entry) => isBelow(path, entry.path) && path !== entry.path)
  if (top === undefined) return false
  return html`<nav class="trail" aria-label="Breadcrumb"><ol>
${[top, ...trail].map((place) => html`<li><a href="${place.path}">${place.name}</a></li>`)}
<li><span aria-current="page">${title}</span></li>
</ol></nav>`
}
