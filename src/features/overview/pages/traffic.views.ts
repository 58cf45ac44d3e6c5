import { barChart } from '../../../platform/pages/components/charts.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatMs, formatNumber } from '../../../platform/pages/components/numbers.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Traffic } from '../traffic.ts'

export function trafficCard({ requests, errors, p50, p99, minutes, slowest }: Traffic): Html {
  return html`<section class="card wide" aria-labelledby="requests">
<h2 id="requests">Requests of the last hour</h2>
<p class="soft">To this node, over all of its threads. Counted anew after a restart. Errors are answers with a status of 500 or more.</p>
${figureList([
  [formatNumber(requests), 'Requests'],
  [formatNumber(errors), 'Errors'],
  [timeText(p50), 'Half within (p50)'],
  [timeText(p99), '99% within (p99)'],
])}
${barChart({
  id: 'requests-by-minute',
  title: 'Requests by minute',
  pointsName: 'Minute (UTC)',
  points: minutes.map(({ time }) => time),
  series: [
    { name: 'Without error', tone: 'main', values: minutes.map((each) => each.requests - each.errors) },
    { name: 'Errors', tone: 'bad', values: minutes.map((each) => each.errors) },
  ],
})}
${slowest.length > 0 && routeTable(slowest)}
</section>`
}

function routeTable(routes: Traffic['slowest']): Html {
  return html`<h3 id="slowest">Slowest routes</h3>
<p class="soft">By p99. A request that waits for a change counts with its wait.</p>
<table class="stack" aria-labelledby="slowest">
<thead><tr><th scope="col">Route</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Errors</th><th scope="col" class="number">p50</th><th scope="col" class="number">p99</th></tr></thead>
<tbody>
${routes.map(
  ({ method, route, requests, errors, p50, p99 }) => html`<tr>
<td data-label="Route"><code>${method} ${route}</code></td>
<td data-label="Requests" class="number">${formatNumber(requests)}</td>
<td data-label="Errors" class="number">${formatNumber(errors)}</td>
<td data-label="p50" class="number">${timeText(p50)}</td>
<td data-label="p99" class="number">${timeText(p99)}</td>
</tr>
`,
)}
</tbody>
</table>`
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '–' : formatMs(ms)
}
