import { badges } from '../../../platform/pages/components/badges.ts'
import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { field } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { maxNameLength } from '../api-keys.schema.ts'
import type { MadeKey } from '../api-keys.service.ts'
import type { ListedKey } from '../api-keys.store.ts'

export interface KeysCard {
  keys: readonly ListedKey[]
  /** In ISO 8601. */
  now: string
  about: string
  /** What the card calls the owner. */
  owner: 'you' | 'the user'
  /** Path of the form for a new key. */
  newKey?: string
  /** Path that ends a key. Undefined if the viewer may only look. */
  endPath?(key: string): string
}

export function keysCard(card: KeysCard): Html {
  const { keys, about, newKey, endPath } = card
  return html`<section class="card" aria-labelledby="api-keys">
<div class="row">
<h2 id="api-keys">API keys</h2>
${newKey !== undefined && html`<a class="button end" href="${newKey}">New API key</a>`}
</div>
<p class="soft">${about}</p>
${
  keys.length > 0 &&
  html`<table class="stack devices">
<thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">May</th><th scope="col">Last used</th><th scope="col">Expires</th>${endPath && html`<th scope="col">Action</th>`}</tr></thead>
<tbody>
${keys.map((key) => row(key, card))}
</tbody>
</table>`
}
</section>`
}

function row({ id, name, hint, permissions, last_used_at, expires_at }: ListedKey, { now, owner, endPath }: KeysCard) {
  return html`<tr>
<td data-label="Name"><span id="key-${id}">${name}</span></td>
<td data-label="Key"><code>${hint}</code></td>
<td data-label="May">${mayOf(permissions, owner)}</td>
<td data-label="Last used">${last_used_at === null ? html`<span class="soft">Never</span>` : time(last_used_at)}</td>
<td data-label="Expires">${expiryOf(expires_at, now)}</td>
${endPath && html`<td class="action"><form method="post" action="${endPath(id)}" data-confirm="End the API key “${name}”? Programs that use it are refused at once." data-confirm-button="End"><button class="small" aria-describedby="key-${id}">End</button></form></td>`}
</tr>
`
}

function mayOf(permissions: readonly string[] | null, owner: string): Html {
  if (permissions === null) return html`<span class="soft">All that ${owner} may</span>`
  if (permissions.length === 0) return html`<span class="soft">Public data only</span>`
  return html`<span>${badges(permissions)}</span>`
}

function expiryOf(expiresAt: string | null, now: string): Html {
  if (expiresAt === null) return html`<span class="soft">Never</span>`
  return expiresAt > now
    ? time(expiresAt)
    : html`<span><span class="badge bad">Expired</span> ${time(expiresAt)}</span>`
}

/** The choices of the form, by their number of days. */
export const lifetimes: Readonly<Record<string, string>> = {
  30: '30 days',
  90: '90 days',
  365: 'A year',
  never: 'No end',
}
export const defaultLifetime = '90'

export interface NewKeyView {
  /** The submitted values, if they were refused. */
  name?: string
  permissions?: string
  lifetime?: string
  refusal?: Refusal
}

export function newKeyPage({
  name,
  permissions,
  lifetime = defaultLifetime,
  refusal = noRefusal,
}: NewKeyView = {}): Page {
  const { problems } = refusal
  return {
    title: 'New API key',
    content: html`<section class="medium card">
<h1>New API key</h1>
<p>A program with this key acts as you. Give it only the permissions that it needs.</p>
${refusalNote(refusal)}
<form method="post" action="/console/account/keys">
${field({ label: 'Name', name: 'name', value: name, problems, required: true, maxlength: maxNameLength, autocomplete: 'off', autofocus: true, hint: 'What the key is for, such as the name of the program.' })}
${field({ label: 'Permissions', name: 'permissions', type: 'textarea', value: permissions, problems, hint: 'One per line, such as posts.view or products.*. The key can change only data that they name. If empty, the key has all of your permissions.' })}
<div class="field">
<label for="field-lifetime">Expires after</label>
<select id="field-lifetime" name="lifetime">${Object.entries(lifetimes).map(
      ([value, text]) => html`<option value="${value}"${value === lifetime && html` selected`}>${text}</option>`,
    )}</select>
</div>
<button class="main">Make the key</button>
</form>
<p class="beside"><a href="/console/account">Back to your account</a></p>
</section>`,
  }
}

/** With cards of features that tell what can be done with the key. */
export function madeKeyPage({ data, key }: MadeKey, cards: readonly Html[]): Page {
  return {
    title: 'Your API key',
    // The key is shown once.
    address: false,
    content: html`<section class="medium card">
<p class="notice" role="status">The API key “${data.name}” is made.</p>
<h1>Your API key</h1>
<p>Store it where only the program can read it: <strong>it is shown only now.</strong></p>
<p class="codes key" id="api-key"><code>${key}</code></p>
<p class="hint">Click the key to select it.</p>
${copyActions({ target: 'api-key', next: { label: 'I have kept it', href: '/console/account' } })}
</section>
${cards}`,
  }
}

export function welcomeCard(): Html {
  return html`<section class="card" aria-labelledby="welcome-keys">
<h2 id="welcome-keys">A key for programs</h2>
<p>Programs do not sign in: they send an API key.</p>
<p class="row actions"><a class="button" href="/console/account/keys/new">Make an API key</a></p>
</section>`
}
