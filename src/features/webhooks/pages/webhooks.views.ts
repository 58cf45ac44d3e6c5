/** The list of webhooks, and of what else follows the change log. */
import { badges } from '../../../platform/pages/components/badges.ts'
import { factList } from '../../../platform/pages/components/facts.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { selectField } from '../../../platform/pages/components/list-fields.ts'
import { sortableHead } from '../../../platform/pages/components/list-links.ts'
import { formatAge, formatNumber } from '../../../platform/pages/components/numbers.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Webhook } from '../webhook.ts'
import type { ChosenWebhooks } from './webhook-list.ts'

/** A durable listener of a feature. */
export interface ListedConsumer {
  name: string
  /** When the oldest change was made that it has not handled. Null if there is none. */
  behindSince: string | null
  isRunning: boolean
}

export interface WebhooksView {
  chosen: ChosenWebhooks
  /** Whether there are any, whatever is filtered. */
  hasAny: boolean
  consumers: readonly ListedConsumer[]
  canCreate: boolean
}

const path = '/console/webhooks'

export function webhooksPage({ chosen, hasAny, consumers, canCreate }: WebhooksView): Page {
  return {
    title: 'Webhooks',
    content: html`<div class="row head"><h1>Webhooks</h1>${canCreate && html`<a class="button main end" href="${path}/new" data-new>New webhook</a>`}</div>
${hasAny ? html`${filterForm(chosen)}${chosen.rows.length > 0 ? table(chosen) : noneFound}` : none}
${consumers.length > 0 && consumersCard(consumers)}`,
  }
}

const none = html`<div class="card empty"><h2>No webhooks yet</h2>
<p>A webhook is a URL of yours that is called when a product or an account has changed: in order, and nothing is missed.</p></div>`

const noneFound = html`<div class="card empty"><h2>Nothing found</h2><p>No webhook is in this state.</p></div>`

function filterForm({ query }: ChosenWebhooks): Html {
  return html`<form class="search" role="search" action="${path}">
${selectField({ label: 'State', name: 'filter[status]', query }, [
  ['', 'All'],
  ['on', 'On'],
  ['failing', 'Failing'],
  ['off', 'Off'],
])}
${query.sort !== undefined && html`<input type="hidden" name="sort" value="${query.sort}">`}
<button>Show</button>
</form>`
}

function table({ rows, query, sort }: ChosenWebhooks): Html {
  const head = (field: string, text: string) => sortableHead({ field, text }, { path, query, sort })
  return html`<div class="card list"><table class="stack people">
<thead><tr>${head('url', 'URL')}<th scope="col">For</th><th scope="col">Types</th>${head('status', 'State')}${head('created_at', 'Made')}</tr></thead>
<tbody>
${rows.map(
  (webhook) => html`<tr>
<td class="title"><a href="${path}/${webhook.id}">${webhook.url}</a></td>
<td data-label="For">${webhook.description === '' ? html`<span class="soft">–</span>` : webhook.description}</td>
<td data-label="Types"><span>${badges(webhook.types)}</span></td>
<td data-label="State"><span>${stateOf(webhook)}</span></td>
<td data-label="Made">${time(webhook.created_at)}</td>
</tr>
`,
)}
</tbody>
</table></div>`
}

/** On the overview. */
export function webhooksCard(
  counts: { on: number; failing: number; off: number },
  lagSeconds: number | undefined,
): Html {
  return html`<section class="card" aria-labelledby="webhooks">
<h2 id="webhooks">Webhooks</h2>
${figureList([[lagSeconds === undefined ? '–' : formatAge(lagSeconds), 'Behind at most']])}
${factList([
  ['On', formatNumber(counts.on)],
  ['Failing', counts.failing > 0 ? html`<span class="badge bad">${formatNumber(counts.failing)}</span>` : '0'],
  ['Off', formatNumber(counts.off)],
])}
<p class="beside"><a href="${path}">All webhooks</a></p>
</section>`
}

export function stateOf({ enabled, off_reason, failing_since }: Webhook): Html {
  if (!enabled) {
    return off_reason === 'failures'
      ? html`<span class="badge bad">Off</span> after three days of failures`
      : html`<span class="badge">Off</span>`
  }
  return failing_since === null
    ? html`<span class="badge good">On</span>`
    : html`<span class="badge bad">Failing</span> since ${time(failing_since)}`
}

function consumersCard(consumers: readonly ListedConsumer[]): Html {
  return html`<section class="card" aria-labelledby="listeners">
<h2 id="listeners">Durable listeners</h2>
<p class="soft">Of the service and its extensions. They follow the same log.</p>
<table class="stack devices">
<thead><tr><th scope="col">Name</th><th scope="col">State</th></tr></thead>
<tbody>
${consumers.map(
  ({ name, behindSince, isRunning }) => html`<tr>
<td data-label="Name">${name}</td>
<td data-label="State"><span>${
    behindSince === null
      ? html`<span class="badge good">Up to date</span>`
      : html`<span class="badge bad">Behind</span> since ${time(behindSince)}`
  }${!isRunning && html` <span class="soft">Not running</span>`}</span></td>
</tr>
`,
)}
</tbody>
</table>
</section>`
}
