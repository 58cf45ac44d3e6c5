/** The pages to set up and turn off the second factor, and to show recovery codes. */

import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { PendingTwoFactor } from '../console.service.ts'

const back = html`<p class="beside"><a href="/console/account">Back to your account</a></p>`

export function beginPage(refusal: Refusal = noRefusal): Page {
  return {
    title: 'Set up two-factor',
    content: html`<section class="narrow card">
<h1>Set up two-factor</h1>
<p>You need an authenticator app on your phone. First, confirm that it is you:</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/two-factor/set-up">
${passwordField(refusal, true)}
<button class="main">Go on</button>
</form>
${back}
</section>`,
  }
}

export interface ScanView {
  pending: PendingTwoFactor
  /** A data URI. */
  qrCode: string
  refusal?: Refusal
}

export function scanPage({ pending, qrCode, refusal = noRefusal }: ScanView): Page {
  return {
    title: 'Set up two-factor',
    content: html`<section class="medium card">
<h1>Set up two-factor</h1>
${refusalNote(refusal)}
<ol class="steps">
<li><h2>Scan this picture with the app</h2>
<img class="qr-code" src="${qrCode}" alt="QR code of the secret below" width="220" height="220">
<p>No camera? Type this secret into the app:<br><code class="secret">${pending.secret.match(/.{1,4}/g)?.join(' ')}</code></p></li>
<li><h2>Type the code that the app shows</h2>
<form method="post" action="/console/account/two-factor/enable">
<input type="hidden" name="ticket" value="${pending.ticket}">
${codeField(refusal, { autofocus: true })}
<button class="main">Turn on</button>
</form></li>
</ol>
${back}
</section>`,
  }
}

export function codesPage({ codes, isNew }: { codes: readonly string[]; isNew: boolean }): Page {
  return {
    title: 'Recovery codes',
    // They are shown once.
    address: false,
    content: html`<section class="medium card">
<p class="notice no-print" role="status">${isNew ? 'Two-factor is on.' : 'The old recovery codes are void.'}</p>
<h1>Your recovery codes</h1>
<p>Each of them signs you in once, if you do not have your app. Print them or keep them in a password manager:
<strong>they are shown only now.</strong></p>
<ol class="codes" id="recovery-codes">
${codes.map((code) => html`<li><code>${code}</code></li>\n`)}
</ol>
<p class="hint no-print">Click the list to select it.</p>
${copyActions({ target: 'recovery-codes', canPrint: true, next: { label: 'I have kept them', href: '/console/account' } })}
</section>`,
  }
}

export function disablePage(refusal: Refusal = noRefusal): Page {
  return {
    title: 'Turn two-factor off',
    content: html`<section class="narrow card">
<h1>Turn two-factor off</h1>
<p>Signing in then asks only for your password, and the recovery codes stop working.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/two-factor/disable">
${passwordField(refusal, true)}
${codeField(refusal, { hint: codeHint })}
<button class="main">Turn off</button>
</form>
${back}
</section>`,
  }
}

export function renewPage(refusal: Refusal = noRefusal): Page {
  return {
    title: 'New recovery codes',
    content: html`<section class="narrow card">
<h1>New recovery codes</h1>
<p>You get ten new ones. The old ones stop working.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/two-factor/recovery-codes">
${passwordField(refusal, true)}
${codeField(refusal, { hint: codeHint })}
<button class="main">Make new codes</button>
</form>
${back}
</section>`,
  }
}

const codeHint = 'From your authenticator app, or a recovery code.'

function passwordField({ problems }: Refusal, autofocus: boolean) {
  return field({
    label: 'Password',
    name: 'password',
    type: 'password',
    problems,
    required: true,
    autocomplete: 'current-password',
    autofocus,
  })
}

function codeField({ problems }: Refusal, more: { autofocus?: boolean; hint?: string }) {
  return field({ label: 'Code', name: 'code', problems, required: true, autocomplete: 'one-time-code', ...more })
}
