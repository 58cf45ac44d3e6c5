/** Parts that need passkeys.js are hidden until the script has found that the browser supports passkeys. */
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { maxNameLength } from '../passkeys.schema.ts'
import type { ListedPasskey } from '../passkeys.store.ts'

const account = '/console/account'
const base = `${account}/passkeys`
const script = html`<script src="/console/assets/passkeys.js" type="module"></script>`
const back = html`<p class="beside"><a href="${account}">Back to your account</a></p>`

export function passkeysCard(passkeys: readonly ListedPasskey[]): Html {
  return html`<section class="card" aria-labelledby="passkeys">
<div class="row">
<h2 id="passkeys">Passkeys</h2>
<a class="button end" href="${base}/add">Add a passkey</a>
</div>
<p class="soft">Sign in with your fingerprint, face or device PIN instead of your password and code.</p>
${passkeys.length > 0 && table(passkeys, ({ id }) => html`<a class="button small" href="${base}/${id}/remove" aria-describedby="passkey-${id}">Remove</a>`)}
</section>`
}

/** On the page of a user, for administrators who may remove them. */
export function userPasskeysCard({ userId, passkeys }: { userId: number; passkeys: readonly ListedPasskey[] }): Html {
  const remove = ({ id, name }: ListedPasskey) =>
    html`<form method="post" action="/console/users/${userId}/passkeys/${id}/remove" data-confirm="Remove the passkey “${name}”? It will no longer sign the user in." data-confirm-button="Remove"><button class="small" aria-describedby="passkey-${id}">Remove</button></form>`
  return html`<section class="card" aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p class="soft">Each signs the user in without a password or code. Removing one doesn't end sessions.</p>
${table(passkeys, remove)}
</section>`
}

function table(passkeys: readonly ListedPasskey[], action: (passkey: ListedPasskey) => Html): Html {
  return html`<table class="stack devices">
<thead><tr><th scope="col">Name</th><th scope="col">Added</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>
${passkeys.map((passkey) => row(passkey, action(passkey)))}
</tbody>
</table>`
}

function row({ id, name, backed_up, created_at, last_used_at }: ListedPasskey, action: Html): Html {
  return html`<tr>
<td data-label="Name"><span id="passkey-${id}">${name}${backed_up && html` <span class="badge">Synced</span>`}</span></td>
<td data-label="Added">${time(created_at)}</td>
<td data-label="Last used">${last_used_at === null ? html`<span class="soft">Never</span>` : time(last_used_at)}</td>
<td class="action">${action}</td>
</tr>
`
}

export interface AddView {
  /** The host that passkeys belong to. */
  host: string
  /** The submitted name, if it was refused. */
  name?: string
  refusal?: Refusal
}

export function addPage({ host, name, refusal = noRefusal }: AddView): Page {
  const { problems } = refusal
  return {
    title: 'Add a passkey',
    address: `${base}/add`,
    content: html`<section class="narrow card">
<h1>Add a passkey</h1>
${refusalNote(refusal)}
${missingNote(host)}
<form method="post" action="${base}/add" data-passkey-host="${host}" hidden>
${field({ label: 'Name', name: 'name', value: name, problems, required: true, maxlength: maxNameLength, autocomplete: 'off', autofocus: true, hint: 'To recognise it later, such as the name of the device.' })}
${field({ label: 'Password', name: 'password', type: 'password', problems, required: true, autocomplete: 'current-password' })}
<button class="main">Go on</button>
</form>
${back}
</section>
${script}`,
  }
}

/** The browser creates the passkey; then the script submits the form. */
export function createPage({ host, name, options }: { host: string; name: string; options: object }): Page {
  return {
    title: 'Add a passkey',
    address: `${base}/add`,
    content: html`<section class="narrow card">
<h1>Add a passkey</h1>
${missingNote(host)}
<form method="post" action="${base}" data-passkey-host="${host}" data-passkey-create="${JSON.stringify(options)}" hidden>
<p>Your browser asks where to keep “${name}”, and then for your fingerprint, your face or a PIN.</p>
<input type="hidden" name="name" value="${name}">
<input type="hidden" name="response" value="">
<button class="main" autofocus>Make the passkey</button>
<p class="problem" role="alert" data-passkey-problem hidden></p>
</form>
${back}
</section>
${script}`,
  }
}

function missingNote(host: string): Html {
  return html`<p data-passkey-missing>This needs a browser with passkeys, with scripts turned on, and the console at <code>${host}</code>.</p>`
}

export function removePage({ passkey, refusal = noRefusal }: { passkey: ListedPasskey; refusal?: Refusal }): Page {
  const { problems } = refusal
  return {
    title: 'Remove a passkey',
    content: html`<section class="narrow card">
<h1>Remove a passkey</h1>
<p>“${passkey.name}” does not sign you in any more then. Remove it from your device or password manager, too.</p>
${refusalNote(refusal)}
<form method="post" action="${base}/${passkey.id}/remove">
${field({ label: 'Password', name: 'password', type: 'password', problems, required: true, autocomplete: 'current-password', autofocus: true })}
<button class="bad">Remove</button>
</form>
${back}
</section>`,
  }
}

/** Below the form of the sign-in page. */
export function signInButton({ next, host }: { next: string; host: string }): Html {
  return html`<form method="post" action="/console/sign-in/passkey" data-passkey-host="${host}" data-passkey-get="/api/auth/passkeys/login/options" hidden>
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="response" value="">
<button>Sign in with a passkey</button>
<p class="problem" role="alert" data-passkey-problem hidden></p>
</form>
${script}`
}
