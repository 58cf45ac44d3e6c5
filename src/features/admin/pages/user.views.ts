/** The page of one user, for administrators. */

import { type Act, actsCard } from '../../../platform/pages/components/acts.ts'
import { badges } from '../../../platform/pages/components/badges.ts'
import { type Fact, factList } from '../../../platform/pages/components/facts.ts'
import { field, type Values } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { time, timeOfSeconds } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'
import { roleChoices } from './role-choices.ts'

export interface UserView {
  user: ListedUser
  /** Has not accepted the invitation yet. */
  isInvited: boolean
  /**
   * `view`: the viewer lacks users.update. `beyond`: the user holds permissions that the viewer lacks. `self`: viewers
   * change only their own name and roles here.
   */
  reach: 'view' | 'beyond' | 'self' | 'change'
  roles: readonly { name: string; canGive: boolean }[]
  /** Added by other features. */
  cards: readonly Html[]
  /** The submitted roles, if they were refused. */
  chosen?: readonly string[]
  /** The submitted name and email, if they were refused. */
  values?: Values
  refusal?: Refusal
}

export function userPage(view: UserView): Page {
  const { user, reach, cards, refusal = noRefusal } = view
  const canEdit = reach === 'change' || reach === 'self'
  return {
    title: user.email,
    content: html`<h1>${user.email}</h1>
${refusalNote(refusal)}
<div${canEdit && html` class="halves"`}>
${factsCard(view)}
${canEdit && html`<div>${rolesCard(view)}${editCard(view)}</div>`}
</div>
${cards}
${reach === 'change' && html`${helpCard(user)}${accessCard(view)}`}
${reach === 'self' && html`<p class="soft">This is you. Change everything else on <a href="/console/account">your account page</a>.</p>`}
${reach === 'beyond' && html`<p class="soft">This user holds permissions that you lack, so you cannot change anything here.</p>`}`,
  }
}

function factsCard({ user, isInvited }: UserView): Html {
  const { id, name, roles, two_factor, locked_until, disabled_at, email_verified_at, created_at } = user
  const facts: Fact[] = [
    ['Number', String(id)],
    ['Name', name === '' ? html`<span class="soft">None</span>` : name],
    ['Roles', roles.length === 0 ? html`<span class="soft">None</span>` : html`${badges(roles)}`],
    ['Two-factor', two_factor ? html`<span class="badge good">On</span>` : 'Off'],
    [
      'Locked',
      locked_until === null ? 'No' : html`<span class="badge bad">Yes</span> until ${timeOfSeconds(locked_until)}`,
    ],
    ['Disabled', disabled_at === null ? 'No' : html`<span class="badge bad">Yes</span> since ${time(disabled_at)}`],
    ['Email verified', email_verified_at === null ? 'No' : time(email_verified_at)],
    [isInvited ? 'Invited' : 'Registered', time(created_at)],
    ...(isInvited ? [['Invitation', 'Not accepted yet'] satisfies Fact] : []),
  ]
  return html`<section class="card" aria-labelledby="about">
<h2 id="about">About</h2>
${factList(facts)}
</section>`
}

function rolesCard({ user, roles, chosen = user.roles, refusal = noRefusal }: UserView): Html {
  const known = roles.map(({ name }) => name)
  // No longer configured: they grant nothing, so anybody may remove them.
  const gone = user.roles.filter((name) => !known.includes(name)).map((name) => ({ name, canGive: true, isGone: true }))
  return html`<section class="card" aria-labelledby="roles">
<h2 id="roles">Roles</h2>
<form method="post" action="/console/users/${user.id}/roles">
${roleChoices({ label: 'roles', roles: [...roles, ...gone], chosen, problems: refusal.problems })}
<button class="main">Save the roles</button>
</form>
</section>`
}

function editCard({ user, reach, values = { ...user }, refusal = noRefusal }: UserView): Html {
  const { problems } = refusal
  return html`<section class="card" aria-labelledby="edit">
<h2 id="edit">Profile</h2>
<form method="post" action="/console/users/${user.id}/edit">
${reach !== 'self' && field({ label: 'Email', name: 'email', type: 'email', value: values.email, problems, required: true, autocomplete: 'off', hint: 'A new email is not verified.' })}
${field({ label: 'Name', name: 'name', value: values.name, problems, maxlength: 255, autocomplete: 'off' })}
<button class="main">Save the profile</button>
</form>
</section>`
}

function helpCard({ id, email, two_factor, locked_until }: ListedUser): Html {
  const acts: (Act | false)[] = [
    locked_until !== null && {
      path: 'unlock',
      name: 'Unlock',
      description: 'Ends the lock-out after too many failed attempts.',
    },
    two_factor && {
      path: 'reset-2fa',
      name: 'Reset two-factor',
      description:
        'For users who lost the app and the recovery codes. Also removes their passkeys. They then sign in with the password alone.',
      question: `Reset the two-factor of ${email}?`,
    },
    {
      path: 'sign-out',
      name: 'Sign out everywhere',
      description: 'Ends all sessions on all devices at once.',
      question: `Sign ${email} out everywhere?`,
    },
  ]
  return actsCard({
    id: 'help',
    heading: 'Help this user',
    path: `/console/users/${id}`,
    acts: acts.filter((act) => act !== false),
  })
}

function accessCard({ user, isInvited }: UserView): Html {
  const { id, email, disabled_at } = user
  const acts: (Act | false)[] = [
    isInvited &&
      disabled_at === null && {
        path: 'invitation',
        name: 'Invite again',
        description: 'Creates a new link to set the password. The earlier one stops working.',
      },
    disabled_at === null
      ? {
          path: 'disable',
          name: 'Disable',
          description: 'The user cannot sign in any more, and is signed out everywhere. Nothing is lost.',
          question: `Disable ${email}?`,
        }
      : { path: 'enable', name: 'Enable', description: 'The user can sign in again.' },
    {
      path: 'delete',
      name: 'Delete',
      description: 'Removes the user for good. This cannot be undone.',
      question: `Delete ${email} for good?`,
    },
  ]
  return actsCard({
    id: 'access',
    heading: 'Access',
    path: `/console/users/${id}`,
    acts: acts.filter((act) => act !== false),
  })
}
