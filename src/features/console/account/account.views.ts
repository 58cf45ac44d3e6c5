/** The account page. */

import type { Principal } from '../../../platform/access/route-guards.ts'
import { badges } from '../../../platform/pages/components/badges.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Device, EndedDevice, TwoFactorStatus } from '../console.service.ts'
import { removePasskeysBox } from '../remove-passkeys.views.ts'
import { devicesCard } from './devices.views.ts'
import { type EmailCardView, emailCard } from './email.views.ts'

export interface AccountView extends EmailCardView {
  principal: Principal
  /** Somebody has followed a link that was mailed to the address. */
  isVerified: boolean
  twoFactor: TwoFactorStatus
  /** How many the user has. */
  passkeys: number
  devices: readonly Device[]
  endedDevices: readonly EndedDevice[]
  /** Added by other features. */
  cards: readonly Html[]
  passwordHint: string
  /** The submitted name, if it was refused. */
  name?: string
  profileRefusal?: Refusal
  /** The submitted choice, if the new password was refused. */
  removePasskeys?: boolean
  passwordRefusal?: Refusal
}

export function accountPage(view: AccountView): Page {
  return {
    title: 'Account',
    content: html`<h1>Account</h1>
<div class="halves">
${profileCard(view)}
${passwordCard(view)}
${emailCard(view)}
${twoFactorCard(view.twoFactor)}
</div>
${view.cards}
${devicesCard(view.devices, view.endedDevices)}
<section class="card" aria-labelledby="delete">
<h2 id="delete">Delete the account</h2>
<p class="row actions"><a class="button bad" href="/console/account/delete">Delete my account</a></p>
</section>`,
  }
}

function profileCard({
  principal,
  isVerified,
  canMail,
  name = principal.name,
  profileRefusal = noRefusal,
}: AccountView) {
  const { email, roles } = principal
  return html`<section class="card" aria-labelledby="profile">
<h2 id="profile">Profile</h2>
<dl>
<div><dt>Email</dt><dd><span>${email}</span> ${isVerified ? html`<span class="badge good">Verified</span>` : html`<span class="badge">Not verified</span>`}</dd></div>
<div><dt>Roles</dt><dd>${roles.length === 0 ? html`<span class="soft">None</span>` : badges(roles)}</dd></div>
</dl>
${!isVerified && canMail && html`<div class="row actions"><form method="post" action="/console/account/verification"><button>Verify your email</button></form></div>`}
${refusalNote(profileRefusal)}
<form method="post" action="/console/account/profile">
${field({ label: 'Name', name: 'name', value: name, problems: profileRefusal.problems, autocomplete: 'name', maxlength: 255 })}
<button class="main">Save</button>
</form>
</section>`
}

function passwordCard(view: AccountView) {
  const { passwordHint: hint, passkeys, removePasskeys = false, passwordRefusal: refusal = noRefusal } = view
  const { problems } = refusal
  return html`<section class="card" aria-labelledby="password">
<h2 id="password">Password</h2>
<p class="soft">Changing it signs you out everywhere, including here.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/password">
${field({ label: 'Current password', name: 'current_password', type: 'password', problems, required: true, autocomplete: 'current-password' })}
${field({ label: 'New password', name: 'new_password', type: 'password', problems, hint, required: true, autocomplete: 'new-password' })}
${passkeys > 0 && removePasskeysBox({ count: passkeys, isOn: removePasskeys })}
<button class="main">Change the password</button>
</form>
</section>`
}

function twoFactorCard({ enabled, recovery_codes_left: left }: TwoFactorStatus) {
  const badge = enabled ? html`<span class="badge good">On</span>` : html`<span class="badge">Off</span>`
  return html`<section class="card" aria-labelledby="two-factor">
<div class="row"><h2 id="two-factor">Two-factor</h2>${badge}</div>
<p class="soft">${
    enabled
      ? `Signing in also asks for a code from your authenticator app. You have ${countCodes(left)} left, in case you lose the app.`
      : 'Signing in then also asks for a code from an app on your phone, so that a stolen password is not enough.'
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
