import { copyActions } from '../../../platform/pages/components/copy-actions.ts'
import type { Html } from '../../../platform/pages/html.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { ProductionSetting } from '../production-settings.ts'
import { setUpPath } from '../set-up.service.ts'

export interface WelcomeView {
  address: string
  /** Undefined without products. */
  hasSamples: boolean | undefined
  settings: readonly ProductionSetting[]
  /** Added by other features. */
  cards: readonly Html[]
}

export function welcomePage({ address, hasSamples, settings, cards }: WelcomeView): Page {
  return {
    title: 'Welcome',
    content: html`<h1>Welcome</h1>
<p>You are the administrator of this service. This page is available for an hour; you can do everything on it later too.</p>
${hasSamples !== undefined && samplesCard(hasSamples)}
${cards}
${curlCard(address, { hasProducts: hasSamples !== undefined })}
${settingsCard(settings)}`,
  }
}

function samplesCard(hasSamples: boolean): Html {
  return html`<section class="card" aria-labelledby="samples">
<h2 id="samples">Sample products</h2>
${
  hasSamples
    ? html`<p>The list has three dozen made-up products.</p>
<p class="row actions"><a class="button" href="/console/products">See the products</a></p>`
    : html`<p>Adds three dozen made-up products, to try the list, the search and the API.</p>
<form method="post" action="${setUpPath}/samples"><button>Add sample products</button></form>`
}
</section>`
}

function curlCard(address: string, { hasProducts }: { hasProducts: boolean }): Html {
  const [path, result] = hasProducts
    ? ['/api/v2/products', 'This lists the products.']
    : ['/openapi.json', 'This returns the OpenAPI description of every endpoint.']
  return html`<section class="card" aria-labelledby="curl">
<h2 id="curl">Try the API</h2>
<p>${result} <a href="/docs">The description of the API</a> has every endpoint.</p>
<p class="codes key" id="curl-line"><code>curl '${address}${path}'</code></p>
${copyActions({ target: 'curl-line' })}
</section>`
}

function settingsCard(settings: readonly ProductionSetting[]): Html {
  return html`<section class="card" aria-labelledby="production">
<h2 id="production">For production</h2>
<ul class="helps">
${settings.map(
  ({ name, why, isMet }) => html`<li><div><code>${name}</code><p class="soft">${why}</p></div>
${isMet ? html`<span class="badge good">Met</span>` : html`<span class="badge">To do</span>`}</li>\n`,
)}
</ul>
</section>`
}
