import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { html } from '../../../platform/pages/html.ts'
import { withNext } from '../../../platform/pages/next-page.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { SignInOption } from '../../../platform/pages/sign-in-options.ts'
import type { EndReason } from '../console.service.ts'
import { endSentences } from '../end-words.ts'

interface SignInView {
  email?: string
  next: string
  /** Password resets are available. */
  canReset: boolean
  canRegister: boolean
  /** Added by other features. */
  options: readonly SignInOption[]
  /** Why the session of this browser ended. */
  endReason?: EndReason | undefined
  refusal?: Refusal
}

export function signInPage(view: SignInView): Page {
  const { email, next, canReset, canRegister, options, endReason, refusal = noRefusal } = view
  const autocomplete = ['username', ...options.flatMap((option) => option.autocomplete ?? [])].join(' ')
  return {
    title: 'Sign in',
    address: withNext('/console/sign-in', next),
    content: html`<section class="narrow card">
<h1>Sign in</h1>
${endReason && endNote(endReason)}
${refusalNote(refusal)}
<form method="post" action="/console/sign-in">
<input type="hidden" name="next" value="${next}">
${field({ label: 'Email', name: 'email', type: 'email', value: email, required: true, autocomplete, autofocus: true })}
${field({ label: 'Password', name: 'password', type: 'password', required: true, autocomplete: 'current-password' })}
<button class="main">Sign in</button>
</form>
${options.map((option) => option.show({ next }))}
<p class="beside">${canReset && html`<a href="/console/password/forgot">Forgotten your password?</a> `}${canRegister && html`<a href="${withNext('/console/register', next)}">Register</a>`}</p>
</section>`,
  }
}

function endNote(reason: EndReason) {
  const isAlarm = reason === 'reuse'
  return html`<p class="${isAlarm ? 'problem' : 'notice'}" role="${isAlarm ? 'alert' : 'status'}">${endSentences[reason]}</p>`
}

export function codePage({
  challengeToken,
  next,
  refusal = noRefusal,
}: {
  challengeToken: string
  next: string
  refusal?: Refusal
}): Page {
  return {
    title: 'Second factor',
    address: withNext('/console/sign-in', next),
    content: html`<section class="narrow card">
<h1>One more step</h1>
<p>Type the code that your authenticator app shows, or one of your recovery codes.</p>
${refusalNote(refusal)}
<form method="post" action="/console/sign-in/code">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="challenge_token" value="${challengeToken}">
${field({ label: 'Code', name: 'code', required: true, autocomplete: 'one-time-code', autofocus: true })}
<button class="main">Go on</button>
</form>
<p class="beside"><a href="${withNext('/console/sign-in', next)}">Sign in as somebody else</a></p>
<p class="hint">Neither the app nor the codes at hand? An administrator can reset the second factor.</p>
</section>`,
  }
}
