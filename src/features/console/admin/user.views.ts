/** One user, as administrators see and help them. */
import { type Html, html } from '../../../platform/html/html.ts'
import type { Page } from '../../../platform/web/pages.ts'
import type { ListedUser } from '../console.needs.ts'
import { badges } from '../parts/badges.ts'
import type { Problems } from '../parts/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../parts/refusals.ts'
import { time, timeOfSeconds } from '../parts/times.ts'

export interface UserView {
  user: ListedUser
  /** `view`: only to look at. `beyond`: holds more than whoever looks. */
  reach: 'view' | 'beyond' | 'change'
  roles: readonly { name: string; canGive: boolean }[]
  /** What was chosen, where it was refused. */
  chosen?: readonly string[]
  refusal?: Refusal
}

export function userPage(view: UserView): Page {
  const { user, reach, refusal = noRefusal } = view
  return {
    title: user.email,
    content: html`<p class="trail"><a href="/console/users">Users</a></p>
<h1>${user.email}</h1>
${refusalNote(refusal)}
<div class="pair">
${factsCard(user)}
${reach === 'change' && rolesCard(view)}
</div>
${reach === 'change' && helpCard(user)}
${reach === 'beyond' && html`<p class="soft">This user holds permissions that you lack, so you cannot change anything here.</p>`}`,
  }
}

function factsCard({ id, name, roles, two_factor, locked_until, created_at }: ListedUser): Html {
  const facts: [string, Html | string][] = [
    ['Number', String(id)],
    ['Name', name === '' ? html`<span class="soft">None</span>` : name],
    ['Roles', roles.length === 0 ? html`<span class="soft">None</span>` : html`${badges(roles)}`],
    ['Two-factor', two_factor ? html`<span class="badge good">On</span>` : 'Off'],
    [
      'Locked',
      locked_until === null ? 'No' : html`<span class="badge bad">Until ${timeOfSeconds(locked_until)}</span>`,
    ],
    ['Registered', time(created_at)],
  ]
  return html`<section class="card" aria-labelledby="about">
<h2 id="about">About</h2>
<dl class="facts">
${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}
</dl>
</section>`
}

function rolesCard({ user, roles, chosen = user.roles, refusal = noRefusal }: UserView): Html {
  const known = roles.map(({ name }) => name)
  // They hold nothing any more, and may be taken away.
  const gone = user.roles.filter((name) => !known.includes(name)).map((name) => ({ name, canGive: true, isGone: true }))
  const all = [...roles.map((role) => ({ ...role, isGone: false })), ...gone]
  return html`<section class="card" aria-labelledby="roles">
<h2 id="roles">Roles</h2>
<form method="post" action="/console/users/${user.id}/roles">
<fieldset class="choices"${rolesError(refusal.problems) && html` aria-describedby="roles-error"`}>
<legend>Of this user</legend>
${all.map(
  ({
    name,
    canGive,
    isGone,
  }) => html`<label class="choice"><input type="checkbox" name="roles" value="${name}"${chosen.includes(name) && html` checked`}${!canGive && html` disabled`}> <span>${name}${!canGive && html` <span class="optional">holds more than you do</span>`}${isGone && html` <span class="optional">no longer configured</span>`}</span></label>
`,
)}
${rolesError(refusal.problems)}
</fieldset>
<button class="main">Save the roles</button>
</form>
</section>`
}

function rolesError({ fields }: Problems): Html | false {
  const errors = fields.roles ?? []
  return errors.length > 0 && html`<p class="error" id="roles-error">${errors.join('. ')}.</p>`
}

function helpCard(user: ListedUser): Html {
  const { id, two_factor, locked_until } = user
  const help = (path: string, name: string, told: string) => html`<li>
<div><h3>${name}</h3><p class="soft">${told}</p></div>
<form method="post" action="/console/users/${id}/${path}"><button class="bad">${name}</button></form>
</li>
`
  return html`<section class="card" aria-labelledby="help">
<h2 id="help">Help this user</h2>
<ul class="helps">
${locked_until !== null && help('unlock', 'Unlock', 'Ends the lock-out after too many failed attempts.')}
${two_factor && help('reset-2fa', 'Reset two-factor', 'For who has lost the app and the recovery codes. The password alone signs in then.')}
${help('sign-out', 'Sign out everywhere', 'Ends every session on every device at once.')}
</ul>
</section>`
}
