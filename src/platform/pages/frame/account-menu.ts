/** The menu of the person who is signed in: the account, the appearance, the shortcuts and signing out. */
import type { Principal } from '../../access/route-guards.ts'
import { type IconName, icon } from '../components/icons.ts'
import { type Html, html } from '../html.ts'
import { type Appearance, densities } from './appearance.ts'
import { isBelow } from './navigation.ts'
import { themes } from './theme.ts'

export interface AccountMenu {
  principal: Principal
  path: string
  appearance: Appearance
  /** The page to return to after the appearance has changed. */
  next: string
}

interface Choice {
  value: string
  name: string
  icon?: IconName
}

const themeNames = { light: 'Light', dark: 'Dark', system: 'System' } as const
const densityNames = { comfortable: 'Comfortable', compact: 'Compact' } as const

export function accountMenu({ principal, path, appearance, next }: AccountMenu): Html {
  const { id, name, email } = principal
  return html`<details class="person" data-person="${id}">
<summary>${icon('account')} <span class="name">${name === '' ? email : name}</span> ${icon('more')}</summary>
<div class="menu">
<ul>
<li><a href="/console/account"${isBelow(path, '/console/account') && html` aria-current="page"`}>${icon('account')} Account</a></li>
<li><a href="/console/shortcuts">${icon('keyboard')} Keyboard shortcuts</a></li>
</ul>
<form method="post" action="/console/appearance" data-appearance>
<input type="hidden" name="next" value="${next}">
${choices(
  'theme',
  'Theme',
  themes.map((value) => ({ value, name: themeNames[value], icon: value })),
  appearance.theme,
)}
${choices(
  'density',
  'Density',
  densities.map((value) => ({ value, name: densityNames[value] })),
  appearance.density,
)}
</form>
<form method="post" action="/console/sign-out"><button class="quiet">${icon('sign-out')} Sign out</button></form>
</div>
</details>`
}

function choices(field: string, label: string, all: readonly Choice[], chosen: string): Html {
  return html`<div class="choices" role="group" aria-labelledby="menu-${field}">
<p id="menu-${field}">${label}</p>
${all.map(
  (each) =>
    html`<button name="${field}" value="${each.value}" aria-pressed="${String(each.value === chosen)}">${each.icon && icon(each.icon)} ${each.name}</button>`,
)}
</div>`
}
