/** The page about oneself. */

import type { Principal } from '../../../platform/access/route-guards.ts'
import { badges } from '../../../platform/pages/components/badges.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Device, TwoFactorStatus } from '../console.service.ts'
import { devicesCard } from './devices.views.ts'

export interface AccountView {
  principal: Principal
  twoFactor: TwoFactorStatus
  devices: readonly Device[]
  /** Of other features. */
  cards: readonly Html[]
  passwordHint: string
  /** What was typed, where it was refused. */
  name?: string
  profileRefusal?: Refusal
  passwordRefusal?: Refusal
}

export function accountPage(view: AccountView): Page {
  return {
    title: 'Account',
    content: html`<h1>Account</h1>
<div class="halves">
${profileCard(view)}
${passwordCard(view)}
</div>
${twoFactorCard(view.twoFactor)}
${view.cards}
${devicesCard(view.devices)}`,
  }
}

function profileCard({ principal, name = principal.name, profileRefusal = noRefusal }: AccountView) {
  const { email, roles } = principal
  return html`<section class="card" aria-labelledby="profile">
<h2 id="profile">Profile</h2>
<dl>
<div><dt>Email</dt><dd>${email}</dd></div>
<div><dt>Roles</dt><dd>${roles.length === 0 ? html`<span class="soft">None</span>` : badges(roles)}</dd></div>
</dl>
${refusalNote(profileRefusal)}
<form method="post" action="/console/account/profile">
${field({ label: 'Name', name: 'name', value: name, problems: profileRefusal.problems, autocomplete: 'name', maxlength: 255 })}
<button class="main">Save</button>
</form>
</section>`
}

function passwordCard({ passwordHint: hint, passwordRefusal: refusal = noRefusal }: AccountView) {
  const { problems } = refusal
  return html`<section class="card" aria-labelledby="password">
<h2 id="password">Password</h2>
<p class="soft">Changing it signs you out everywhere, here too.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/password">
${field({ label: 'Current password', name: 'current_password', type: 'password', problems, required: true, autocomplete: 'current-password' })}
${field({ label: 'New password', name: 'new_password', type: 'password', problems, hint, required: true, autocomplete: 'new-password' })}
<button class="main">Change the password</button>
</form>
</section>`
}

function twoFactorCard({ enabled, recovery_codes_left: left }: TwoFactorStatus) {
  const badge = enabled ? html`<span class="badge good">On</span>` : html`<span class="badge">Off</span>`
  return html`<section class="card" aria-labelledby="two-factor">
<div class="row"><h2 id="two-factor">Two-factor</h2>${badge}</div>
<p>${
    enabled
      ? `Signing in asks for a code of your authenticator app. You have ${countCodes(left)} left for when the app is out of reach.`
      : 'With it, signing in asks for a code of an app on your phone beside the password: a stolen password is not enough.'
  }</p>
<p class="row actions">${
    enabled
      ? html`<a class="button" href="/console/account/two-factor/recovery-codes">New recovery codes</a>
<a class="button" href="/console/account/two-factor/disable">Turn off</a>`
      : html`<a class="button main" href="/console/account/two-factor/set-up">Set up</a>`
  }</p>
</section>`
}

function countCodes(left: number): string {
  return left === 1 ? 'one recovery code' : `${left === 0 ? 'no' : left} recovery codes`
}
