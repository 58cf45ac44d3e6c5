/** One user, as administrators see and help them. */

import { badges } from '../../../platform/pages/components/badges.ts'
import type { Problems } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { time, timeOfSeconds } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'

export interface UserView {
  user: ListedUser
  /** `view`: only to look at. `beyond`: holds more than whoever looks. */
  reach: 'view' | 'beyond' | 'change'
  roles: readonly { name: string; canGive: boolean }[]
  /** Of other features. */
  cards: readonly Html[]
  /** What was chosen, where it was refused. */
  chosen?: readonly string[]
  refusal?: Refusal
}

export function userPage(view: UserView): Page {
  const { user, reach, cards, refusal = noRefusal } = view
  return {
    title: user.email,
    content: html`<p class="trail"><a href="/console/users">← Users</a></p>
<h1>${user.email}</h1>
${refusalNote(refusal)}
<div class="halves">
${factsCard(user)}
${reach === 'change' && rolesCard(view)}
</div>
${cards}
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
      locked_until === null ? 'No' : html`<span class="badge bad">Yes</span> until ${timeOfSeconds(locked_until)}`,
    ],
    ['Registered', time(created_at)],
  ]
  return html`<section class="card" aria-labelledby="about">
<h2 id="about">About</h2>
<dl>
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
<fieldset aria-labelledby="roles"${rolesError(refusal.problems) && html` aria-describedby="roles-error"`}>
${all.map((role, i) => choice({ ...role, id: `role-${i}`, isChosen: chosen.includes(role.name) }))}
${rolesError(refusal.problems)}
</fieldset>
<button class="main">Save the roles</button>
</form>
</section>`
}

interface Choice {
  id: string
  name: string
  canGive: boolean
  isGone: boolean
  isChosen: boolean
}

function choice({ id, name, canGive, isGone, isChosen }: Choice): Html {
  return html`<div class="check">
<input type="checkbox" id="${id}" name="roles" value="${name}"${isChosen && html` checked`}${!canGive && html` disabled`}>
<label for="${id}">${name}${!canGive && html` <span class="optional">holds more than you do</span>`}${isGone && html` <span class="optional">no longer configured</span>`}</label>
</div>
`
}

function rolesError({ fields }: Problems): Html | false {
  const errors = fields.roles ?? []
  return errors.length > 0 && html`<p class="error" id="roles-error">${errors.join('. ')}.</p>`
}

interface Help {
  path: string
  name: string
  told: string
  /** Asked first, where scripts run. */
  question?: string
}

function helpCard({ id, email, two_factor, locked_until }: ListedUser): Html {
  const helps: (Help | false)[] = [
    locked_until !== null && {
      path: 'unlock',
      name: 'Unlock',
      told: 'Ends the lock-out after too many failed attempts.',
    },
    two_factor && {
      path: 'reset-2fa',
      name: 'Reset two-factor',
      told: 'For who has lost the app and the recovery codes. The password alone signs in then.',
      question: `Reset the two-factor of ${email}?`,
    },
    {
      path: 'sign-out',
      name: 'Sign out everywhere',
      told: 'Ends every session on every device at once.',
      question: `Sign ${email} out everywhere?`,
    },
  ]
  return html`<section class="card" aria-labelledby="help">
<h2 id="help">Help this user</h2>
<ul class="helps">
${helps.map((help) => help && helpItem(id, help))}
</ul>
</section>`
}

function helpItem(id: number, { path, name, told, question }: Help): Html {
  const asks = question !== undefined && html` data-confirm="${question}" data-confirm-button="${name}"`
  return html`<li>
<div><h3>${name}</h3><p class="soft">${told}</p></div>
<form method="post" action="/console/users/${id}/${path}"${asks}><button${asks && html` class="bad"`}>${name}</button></form>
</li>
`
}
