/** Icons of the sprite assets/icons.svg. They only accompany text, so screen readers skip them. */
import { type Html, html } from '../html.ts'

export type IconName =
  | 'account'
  | 'action'
  | 'api'
  | 'audit'
  | 'backups'
  | 'close'
  | 'dark'
  | 'graphql'
  | 'keyboard'
  | 'light'
  | 'more'
  | 'overview'
  | 'page'
  | 'products'
  | 'search'
  | 'sign-out'
  | 'system'
  | 'users'
  | 'webhooks'

export function icon(name: IconName): Html {
  return html`<svg class="icon" aria-hidden="true"><use href="/console/assets/icons.svg#${name}"></use></svg>`
}
