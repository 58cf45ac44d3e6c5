import type { ListedNode } from '../../../platform/nodes/nodes.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'

export function nodesCard(nodes: readonly ListedNode[]): Html {
  return html`<section class="card wide" aria-labelledby="nodes">
<h2 id="nodes">Nodes</h2>
<table class="stack">
<thead><tr><th scope="col">Node</th><th scope="col" class="number">Threads</th><th scope="col">Version</th><th scope="col">Running since</th><th scope="col">Last seen</th></tr></thead>
<tbody>
${nodes.map(
  ({ name, threads, version, started_at, seen_at, isThis }) => html`<tr>
<td data-label="Node"><span>${name}${isThis && html` <span class="badge">This node</span>`}</span></td>
<td data-label="Threads" class="number">${threads}</td>
<td data-label="Version">${version}</td>
<td data-label="Running since">${time(started_at)}</td>
<td data-label="Last seen">${isThis ? 'Now' : time(seen_at)}</td>
</tr>
`,
)}
</tbody>
</table>
</section>`
}
