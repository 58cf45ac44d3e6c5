/** The history of a product: on its page the newest versions, and all of them on a page of its own. */
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { FieldChange, History, RecentChange, Version } from './product-history.ts'

const path = '/console/products'

const words: Readonly<Record<string, string>> = {
  'product.created': 'Created',
  'product.updated': 'Edited',
  'product.deleted': 'Deleted',
  'product.restored': 'Restored',
}

export function historyCard(id: number, history: History): Html {
  const { before } = history
  return html`<section class="medium card" aria-labelledby="history">
<h2 id="history">History</h2>
${versionList(history)}
${before !== undefined && html`<p class="beside"><a href="${path}/${id}/history?before=${before}">Older versions</a></p>`}
</section>`
}

/** The newest changes of all products. */
export function recentChangesCard(recent: readonly RecentChange[]): Html {
  return html`<section class="card wide" aria-labelledby="recent-changes">
<h2 id="recent-changes">Recent changes</h2>
${
  recent.length > 0
    ? html`<ol class="history">${recent.map(
        ({ type, at, actor, product: { id, name } }) => html`<li>
<p><strong>${words[type] ?? type}</strong> <a href="${path}/${id}/history">${name}</a> by ${actor} <span class="soft">${time(at)}</span></p>
</li>
`,
      )}</ol>`
    : html`<p class="soft">No product has changed lately.</p>`
}
</section>`
}

export interface HistoryView {
  id: number
  name: string
  isDeleted: boolean
  /** Not the newest versions. */
  isLater: boolean
  history: History
}

export function historyPage({ id, name, isDeleted, isLater, history }: HistoryView): Page {
  const { before } = history
  return {
    title: `History of ${name}`,
    content: html`<section class="medium card">
<h1>History of “${name}”</h1>
${isDeleted && html`<p class="soft">The product is deleted.</p>`}
${versionList(history)}
<p class="beside">${isDeleted ? html`<a href="${path}">Back to the list</a>` : html`<a href="${path}/${id}">Back to the product</a>`}
${isLater && html`<a href="${path}/${id}/history">Newest versions</a>`}
${before !== undefined && html`<a rel="next" href="${path}/${id}/history?before=${before}">Older versions</a>`}</p>
</section>`,
  }
}

function versionList({ versions, isCut, retentionDays }: History): Html {
  const since = retentionDays > 0 && ` The log goes back ${retentionDays} ${retentionDays === 1 ? 'day' : 'days'}.`
  return html`${versions.length > 0 && html`<ol class="history">${versions.map(versionItem)}</ol>`}
${isCut && html`<p class="hint">${versions.length > 0 ? 'Older versions are no longer kept.' : 'No version is kept.'}${since}</p>`}`
}

function versionItem({ type, at, actor, changes }: Version): Html {
  return html`<li>
<p><strong>${words[type] ?? type}</strong> by ${actor} <span class="soft">${time(at)}</span></p>
${changes === undefined && html`<p class="soft">What changed is not known: the version before is no longer kept.</p>`}
${changes?.length === 0 && type === 'product.updated' && html`<p class="soft">Saved without a change.</p>`}
${changes && changes.length > 0 && html`<dl>${changes.map(changeLine)}</dl>`}
</li>
`
}

function changeLine({ label, from, to }: FieldChange): Html {
  return html`<div><dt>${label}</dt><dd><del>${shown(from)}</del> <span class="soft">→</span> <ins>${shown(to)}</ins></dd></div>`
}

function shown(text: string): Html | string {
  return text === '' ? html`<em>empty</em>` : text
}
