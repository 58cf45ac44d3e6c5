/** The card to change the email, and the pages that mails link to. */
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'

export interface EmailCardView {
  canMail: boolean
  /** The submitted email, if it was refused. */
  typedEmail?: string
  emailRefusal?: Refusal
}

export function emailCard({ canMail, typedEmail, emailRefusal: refusal = noRefusal }: EmailCardView): Html {
  const { problems } = refusal
  return html`<section class="card" aria-labelledby="email-change">
<h2 id="email-change">Email</h2>
<p class="soft">${canMail ? 'We send a link to the new address. Your email changes when you follow it.' : 'From then on you sign in with the new email.'}</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/email">
${field({ label: 'New email', name: 'email', type: 'email', value: typedEmail, problems, required: true, autocomplete: 'email', maxlength: 255 })}
${field({ label: 'Password', name: 'email_password', type: 'password', problems, required: true, autocomplete: 'current-password' })}
<button class="main">Change the email</button>
</form>
</section>`
}

export interface LinkView {
  token: string
  kind: 'verify' | 'confirm'
  /** The owner of the token. */
  account: { user_id: number; email: string; address: string | null }
  /** Undefined if nobody is signed in. */
  viewer: { id: number; email: string } | undefined
  refusal?: Refusal
}

/**
 * Only the button consumes the token, because mail scanners follow links. The page names the account: somebody else may
 * have registered the address, or want theirs to have it.
 */
export function confirmPage({ token, kind, account, viewer, refusal = noRefusal }: LinkView): Page {
  const { email, address } = account
  const isOwner = viewer?.id === account.user_id
  const { title, action, doubt } = {
    verify: {
      title: 'Confirm your address',
      action: '/console/verify',
      doubt: html`Didn't create this account? Don't confirm. Someone else registered it with your address.
<a href="/console/password/forgot">Reset its password</a> to take it over.`,
    },
    confirm: {
      title: 'Confirm your new address',
      action: '/console/email/confirm',
      doubt: html`Not your account? Close this page. Nothing changes until you confirm.`,
    },
  }[kind]
  return {
    title,
    content: html`<section class="narrow card">
<h1>${title}</h1>
<dl>
<div><dt>Account</dt><dd>${email}</dd></div>
${address !== null && html`<div><dt>New address</dt><dd>${address}</dd></div>`}
</dl>
${refusalNote(refusal)}
<form method="post" action="${action}">
<input type="hidden" name="token" value="${token}">
${!isOwner && ownerFields(viewer, refusal)}
<button class="main">Confirm</button>
</form>
<p class="hint">${doubt}</p>
</section>`,
  }
}

function ownerFields(viewer: LinkView['viewer'], refusal: Refusal): Html {
  return html`<p>${viewer ? `You're signed in as ${viewer.email}.` : "You're not signed in."} Enter the password of this account to confirm.</p>
${field({ label: 'Password', name: 'password', type: 'password', problems: refusal.problems, required: true, autocomplete: 'current-password', autofocus: true })}
`
}

export function linkOverPage(): Page {
  return {
    title: 'This link does not work',
    content: html`<section class="narrow card">
<h1>This link does not work</h1>
<p>It was already used, or it has expired. Sign in to request a new one.</p>
<p class="beside"><a href="/console/sign-in">Sign in</a></p>
</section>`,
  }
}
