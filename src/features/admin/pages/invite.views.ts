/** The form to invite a user, and the link if it cannot be mailed. */
import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { field, noProblems, type Problems, problemNote, type Values } from '../../../platform/pages/components/forms.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ListedUser } from '../admin.store.ts'
import { type RoleChoice, roleChoices } from './role-choices.ts'

export interface InviteView {
  roles: readonly RoleChoice[]
  chosen: readonly string[]
  isMailed: boolean
  values?: Values
  problems?: Problems
}

export function invitePage({ roles, chosen, isMailed, values = {}, problems = noProblems }: InviteView): Page {
  return {
    title: 'Invite a user',
    content: html`<section class="narrow card">
<h1>Invite a user</h1>
<p>${
      isMailed
        ? 'We mail a link to set a password. It works once, for seven days.'
        : 'You get a link to hand over, with which the user sets a password. It works once, for seven days.'
    }</p>
${problemNote(problems)}
<form method="post" action="/console/users/invite">
${field({ label: 'Email', name: 'email', type: 'email', value: values.email, problems, required: true, autocomplete: 'off', autofocus: true })}
${field({ label: 'Name', name: 'name', value: values.name, problems, maxlength: 255, autocomplete: 'off' })}
<h2 id="roles">Roles</h2>
${roleChoices({ label: 'roles', roles, chosen, problems })}
<button class="main">Invite</button>
</form>
</section>`,
  }
}

export function inviteLinkPage({ user, inviteUrl }: { user: ListedUser; inviteUrl: string }): Page {
  return {
    title: 'Invitation',
    // The link is shown once.
    address: false,
    content: html`<section class="medium card">
<h1>Invitation for ${user.email}</h1>
<p>No mail server is configured (<code>mail.url</code>), so pass this link on yourself. It works once, for seven days:
<strong>it is shown only now.</strong></p>
<p class="codes key" id="invite-link"><code>${inviteUrl}</code></p>
${inviteUrl.startsWith('/') && html`<p class="hint">Put the address of this service in front of it, because <code>server.public_url</code> is not configured.</p>`}
<p class="hint">Anybody who has the link can set the password.</p>
${copyActions({ target: 'invite-link', next: { label: 'I have kept it', href: `/console/users/${user.id}` } })}
</section>`,
  }
}
