import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Delivery, ResetAccount } from '../console.service.ts'
import { removePasskeysBox } from '../remove-passkeys.views.ts'

const back = html`<a href="/console/sign-in">Back to sign in</a>`

export function forgotPage({ delivery, problems = noProblems }: { delivery: Delivery; problems?: Problems }): Page {
  return {
    title: 'Forgotten password',
    content: html`<section class="narrow card">
<h1>Forgotten password</h1>
${
  delivery === 'mail'
    ? html`<p>We send a link to your email. It works once, for an hour.</p>`
    : html`<p>No mail server is configured (<code>mail.url</code>), so the message is written to the log of the service,
where its developer finds it. What is in it works once, for an hour.</p>`
}
${problemNote(problems)}
<form method="post" action="/console/password/forgot">
${field({ label: 'Email', name: 'email', type: 'email', required: true, autocomplete: 'email', autofocus: true })}
<button class="main">${delivery === 'mail' ? 'Send the link' : 'Write the message'}</button>
</form>
<p class="beside">${back}</p>
</section>`,
  }
}

/** Shown if mail cannot be sent. */
export function noMailPage(): Page {
  return {
    title: 'Forgotten password',
    content: html`<section class="narrow card">
<h1>Forgotten password</h1>
<p>This service cannot send mail, so there is no link for a new password. Ask an administrator of the service to help
you.</p>
<p class="beside">${back}</p>
</section>`,
  }
}

/** Does not say why the link is invalid, because that would reveal whether it was ever valid. */
export function overPage({ delivery }: { delivery: Delivery }): Page {
  return {
    title: 'New password',
    content: html`<section class="narrow card">
<h1>New password</h1>
<p class="problem" role="alert">This link does not work. It was used before, is older than an hour, or is not complete.</p>
${
  delivery === 'none'
    ? html`<p>Ask an administrator of the service to help you.</p>`
    : html`<p><a class="button main" href="/console/password/forgot">Ask for another link</a></p>`
}
<p class="beside"><a href="/console/password/reset">Type the token of a message</a> ${back}</p>
</section>`,
  }
}

interface ResetView {
  /** The password policy in words. */
  hint: string
  /** Empty if the link has none, as for a message in the log: the form then asks for it. */
  token: string
  delivery: Delivery
  /** Whether there are passkeys at all. */
  hasPasskeys: boolean
  /** Undefined until the token is known. */
  account?: ResetAccount | undefined
  removePasskeys?: boolean
  problems?: Problems
}

export function resetPage(view: ResetView): Page {
  const { hint, token, delivery, account, problems = noProblems } = view
  const tokenHint = delivery === 'log' ? 'Find it in the log of the service.' : 'Find it in the message we sent you.'
  return {
    title: 'New password',
    content: html`<section class="narrow card">
<h1>New password</h1>
${account && accountNotes(account)}
${problemNote(problems)}
<form method="post" action="/console/password/reset">
${token === '' ? field({ label: 'Reset token', name: 'token', problems, hint: tokenHint, required: true, autocomplete: 'off', autofocus: true }) : html`<input type="hidden" name="token" value="${token}">`}
${field({ label: 'New password', name: 'password', type: 'password', problems, hint, required: true, autocomplete: 'new-password', autofocus: token !== '' })}
${passkeyChoice(view)}
<button class="main">Change the password</button>
</form>
<p class="beside">${delivery === 'none' ? back : html`<a href="/console/password/forgot">Ask for another link</a>`}</p>
</section>`,
  }
}

function accountNotes({ email, isFirstProof, hasTwoFactor }: ResetAccount): Html {
  return html`<dl><div><dt>Account</dt><dd>${email}</dd></div></dl>
<p>You'll be signed out everywhere.</p>
${isFirstProof && html`<p>This address was never verified, so this also removes passkeys, API keys and known devices that were added to the account.</p>`}
${hasTwoFactor && html`<p>Two-factor stays on: signing in will ask for a code from the authenticator app. If you don't have the app or a recovery code, an administrator can reset two-factor.</p>`}`
}

function passkeyChoice({ token, hasPasskeys, account, removePasskeys = false }: ResetView): Html | false {
  if (account?.isFirstProof) return false
  const count = token === '' && hasPasskeys ? undefined : (account?.passkeys ?? 0)
  return count !== 0 && removePasskeysBox({ count, isOn: removePasskeys })
}
