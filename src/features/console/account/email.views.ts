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

/** Only the button consumes the token, because mail scanners follow links. */
export function confirmPage({ token, kind }: { token: string; kind: 'verify' | 'confirm' }): Page {
  const words = {
    verify: { title: 'Confirm your address', action: '/console/verify' },
    confirm: { title: 'Confirm your new address', action: '/console/email/confirm' },
  }[kind]
  return {
    title: words.title,
    content: html`<section class="narrow card">
<h1>${words.title}</h1>
<p>Click the button to confirm that this mailbox is yours.</p>
<form method="post" action="${words.action}">
<input type="hidden" name="token" value="${token}">
<button class="main">Confirm</button>
</form>
</section>`,
  }
}

export function linkOverPage(): Page {
  return {
    title: 'This link does not work',
    content: html`<section class="narrow card">
<h1>This link does not work</h1>
<p>It was used before, or has expired. Sign in to request another.</p>
<p class="beside"><a href="/console/sign-in">Sign in</a></p>
</section>`,
  }
}
