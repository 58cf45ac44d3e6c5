/** The page of one webhook, with what was sent to it. */
import { type Act, actsCard } from '../../../platform/pages/components/acts.ts'
import { badges } from '../../../platform/pages/components/badges.ts'
import { type Fact, factList } from '../../../platform/pages/components/facts.ts'
import type { Values } from '../../../platform/pages/components/forms.ts'
import { selectField } from '../../../platform/pages/components/list-fields.ts'
import { type ListParameters, listAddress } from '../../../platform/pages/components/list-links.ts'
import { noRefusal, type Refusal, refusalNote } from '../../../platform/pages/components/refusals.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Delivery, DeliveryStatus, Webhook } from '../webhook.ts'
import { webhookFields } from './new-webhook.views.ts'
import { stateOf } from './webhooks.views.ts'

export interface WebhookView {
  webhook: Webhook
  /** The newest first. */
  deliveries: readonly Delivery[]
  hasOlder: boolean
  /** Whether these are the newest. */
  isFirst: boolean
  /** Only those. */
  status?: DeliveryStatus | undefined
  canChange: boolean
  canDelete: boolean
  knownTypes: readonly string[]
  allowPrivate: boolean
  /** The submitted values, if they were refused. */
  values?: Values
  refusal?: Refusal
}

const pathOf = ({ id }: Webhook) => `/console/webhooks/${id}`

export function webhookPage(view: WebhookView): Page {
  const { webhook, canChange, canDelete, refusal = noRefusal } = view
  return {
    title: webhook.url,
    content: html`<h1>${webhook.url}</h1>
${refusalNote(refusal)}
<div${canChange && html` class="halves"`}>
${factsCard(webhook)}
${canChange && editCard(view)}
</div>
${deliveriesCard(view)}
${(canChange || canDelete) && actions(view)}`,
  }
}

function factsCard(webhook: Webhook): Html {
  const { id, description, types, failures, next_attempt_at, off_since, created_at } = webhook
  const facts: Fact[] = [
    ['Number', String(id)],
    ['For', description === '' ? html`<span class="soft">–</span>` : description],
    ['Types', html`${badges(types)}`],
    ['State', stateOf(webhook)],
    ...(off_since === null ? [] : [['Off since', time(off_since)] satisfies Fact]),
    ...(failures === 0 ? [] : [['Failed attempts', String(failures)] satisfies Fact]),
    ...(next_attempt_at === null ? [] : [['Next attempt', time(next_attempt_at)] satisfies Fact]),
    ['Made', time(created_at)],
  ]
  return html`<section class="card" aria-labelledby="about">
<h2 id="about">About</h2>
${factList(facts)}
</section>`
}

function editCard({ webhook, values, refusal = noRefusal, knownTypes, allowPrivate }: WebhookView): Html {
  const { url, types, description } = webhook
  return html`<section class="card" aria-labelledby="edit">
<h2 id="edit">Change</h2>
<form method="post" action="${pathOf(webhook)}/edit">
${webhookFields({ values: values ?? { url, types: types.join('\n'), description }, problems: refusal.problems, knownTypes, allowPrivate })}
<button class="main">Save the webhook</button>
</form>
</section>`
}

function deliveriesCard({ webhook, deliveries, hasOlder, isFirst, status, canChange }: WebhookView): Html {
  const last = deliveries.at(-1)
  const query: ListParameters = status === undefined ? {} : { 'filter[status]': status }
  const path = pathOf(webhook)
  return html`<section class="card" aria-labelledby="deliveries">
<h2 id="deliveries">Deliveries</h2>
<p class="soft">Those of the last seven days.</p>
<form class="search" role="search" action="${path}">
${selectField({ label: 'Outcome', name: 'filter[status]', query }, [
  ['', 'All'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
])}
<button>Show</button>
</form>
${
  deliveries.length === 0
    ? html`<p>${status === undefined ? 'Nothing was sent yet.' : 'Nothing found.'}</p>`
    : html`<table class="stack devices">
<thead><tr><th scope="col">Message</th><th scope="col">State</th><th scope="col">Attempts</th><th scope="col">Last attempt</th>${canChange && html`<th scope="col">Action</th>`}</tr></thead>
<tbody>
${deliveries.map((delivery) => row(webhook, delivery, canChange))}
</tbody>
</table>`
}
<nav class="pager" aria-label="Pages">
${!isFirst && html`<a href="${listAddress(path, query)}">Newest</a>`}
${hasOlder && last && html`<a rel="next" href="${listAddress(path, { ...query, before: String(last.id) })}">Older →</a>`}
</nav>
</section>`
}

function row(webhook: Webhook, delivery: Delivery, canChange: boolean): Html {
  const { id, type, message_id, attempts, attempted_at } = delivery
  return html`<tr>
<td data-label="Message"><span id="delivery-${id}">${type}<br><span class="soft">${message_id}</span></span></td>
<td data-label="State"><span>${outcomeOf(delivery)}</span></td>
<td data-label="Attempts">${attempts}</td>
<td data-label="Last attempt">${time(attempted_at)}</td>
${canChange && html`<td class="action"><form method="post" action="${pathOf(webhook)}/deliveries/${id}/retry"><button class="small" aria-describedby="delivery-${id}">Send again</button></form></td>`}
</tr>
`
}

function outcomeOf({ status, response_status, response, error, duration_ms }: Delivery): Html {
  const badge =
    status === 'delivered'
      ? html`<span class="badge good">Delivered</span>`
      : html`<span class="badge bad">Failed</span>`
  const answer = response_status === null ? (error ?? '') : `${response_status} in ${duration_ms} ms`
  return html`${badge} ${answer}${
    response !== '' && html`<details><summary>Answer</summary><pre class="answer">${response}</pre></details>`
  }`
}

function actions({ webhook, canChange, canDelete }: WebhookView): Html {
  const changes: Act[] = [
    {
      path: 'test',
      name: 'Send a test',
      description: 'Sends a message of the type webhook.test now.',
    },
    webhook.enabled
      ? {
          path: 'off',
          name: 'Switch off',
          description: 'Nothing is sent until it is switched on again. It then goes on where it stopped.',
        }
      : { path: 'on', name: 'Switch on', description: 'It goes on where it stopped.' },
    {
      path: 'secret',
      name: 'Replace the secret',
      description: 'The present one signs along for 24 hours.',
      question: 'Replace the secret of this webhook?',
    },
  ]
  const deletion: Act = {
    path: 'delete',
    name: 'Delete',
    description: 'It is not told of anything any more. This cannot be undone.',
    question: `Delete the webhook ${webhook.url}?`,
  }
  const acts = [...(canChange ? changes : []), ...(canDelete ? [deletion] : [])]
  return actsCard({ id: 'acts', heading: 'Actions', path: pathOf(webhook), acts })
}
