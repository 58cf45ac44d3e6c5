/** The form for a new webhook, and the page that shows a secret once. */
import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import { field, type Problems, type Values } from '../../../platform/pages/components/forms.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { maxDescriptionLength } from '../webhooks.schema.ts'
import type { WithSecret } from '../webhooks.service.ts'

export interface NewWebhookView {
  knownTypes: readonly string[]
  allowPrivate: boolean
  /** The submitted values, if they were refused. */
  values?: Values
  refusal?: Refusal
}

export function newWebhookPage({ knownTypes, allowPrivate, values = {}, refusal = noRefusal }: NewWebhookView): Page {
  return {
    title: 'New webhook',
    content: html`<section class="medium card">
<h1>New webhook</h1>
<p>It is told of everything of these types that happens from now on.</p>
${refusalNote(refusal)}
<form method="post" action="/console/webhooks">
${webhookFields({ values: { types: 'product.*', ...values }, problems: refusal.problems, knownTypes, allowPrivate })}
<button class="main">Make the webhook</button>
</form>
<p class="beside"><a href="/console/webhooks">Back to the webhooks</a></p>
</section>`,
  }
}

export interface FieldsView {
  values: Values
  problems: Problems
  knownTypes: readonly string[]
  allowPrivate: boolean
}

export function webhookFields({ values, problems, knownTypes, allowPrivate }: FieldsView): Html {
  const hint = allowPrivate ? 'https or http.' : 'https, on the public internet.'
  return html`${field({ label: 'URL', name: 'url', value: values.url, problems, required: true, maxlength: 2000, autocomplete: 'off', hint })}
${field({ label: 'Types', name: 'types', type: 'textarea', value: values.types, problems, required: true, hint: 'One per line, such as product.created, product.* or *.' })}
<details class="field"><summary>All types</summary>
<ul class="plain">${knownTypes.map((type) => html`<li><code>${type}</code></li>`)}</ul>
</details>
${field({ label: 'Description', name: 'description', value: values.description, problems, maxlength: maxDescriptionLength, autocomplete: 'off', hint: 'What it is for.' })}`
}

export function secretPage({ webhook, secret, isReplaced = false }: WithSecret & { isReplaced?: boolean }): Page {
  return {
    title: 'The secret of the webhook',
    // The secret is shown once.
    address: false,
    content: html`<section class="medium card">
<p class="notice" role="status">${isReplaced ? 'The secret is replaced. The one before signs along for 24 hours.' : 'The webhook is made.'}</p>
<h1>The secret of the webhook</h1>
<p>Your endpoint checks the signature of each message with it. Store it there: <strong>it is shown only now.</strong></p>
<p class="codes key" id="webhook-secret"><code>${secret}</code></p>
<p class="hint">Click the secret to select it.</p>
${copyActions({ target: 'webhook-secret', next: { label: 'I have kept it', href: `/console/webhooks/${webhook.id}` } })}
</section>`,
  }
}
