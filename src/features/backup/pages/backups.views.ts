import { formatCount } from '../../../platform/command-line/progress.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatAge } from '../../../platform/pages/components/numbers.ts'
import { timeOfSeconds } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { BackupRow } from '../backups.store.ts'

export interface BackupsView {
  rows: readonly BackupRow[]
  nowSeconds: number
  everySeconds: number | undefined
}

export function backupsPage({ rows, nowSeconds, everySeconds }: BackupsView): Page {
  return {
    title: 'Backups',
    content: html`<h1>Backups</h1>
${summary(rows, nowSeconds, everySeconds)}
${rows.length > 0 && table(rows)}`,
  }
}

/** On the overview. `last` is the last one that was proved. */
export function backupsCard(view: Omit<BackupsView, 'rows'> & { last: BackupRow | undefined }): Html {
  const { last, nowSeconds, everySeconds } = view
  const isLate = last === undefined || (everySeconds !== undefined && nowSeconds - last.started_at > 2 * everySeconds)
  return html`<section class="card" aria-labelledby="backups">
<h2 id="backups">Backups</h2>
${figureList([[last === undefined ? 'None' : formatAge(nowSeconds - last.started_at), 'Age of the last that succeeded']])}
${
  everySeconds === undefined
    ? html`<p><span class="badge bad">Not scheduled</span></p>`
    : html`<p><span class="badge ${isLate ? 'bad' : 'good'}">${isLate ? 'Late' : 'Good'}</span> One is made every ${formatAge(everySeconds)}.</p>`
}
<p class="beside"><a href="/console/backups">All backups</a></p>
</section>`
}

function summary(rows: readonly BackupRow[], nowSeconds: number, everySeconds: number | undefined): Html {
  if (everySeconds === undefined) {
    return html`<p>No backups are scheduled. Set <code>BACKUP_FOLDER</code> and <code>BACKUP_EVERY</code> to have them made.</p>`
  }
  const last = rows.find(({ proved }) => proved)
  const isLate = last !== undefined && nowSeconds - last.started_at > 2 * everySeconds
  return html`<p>One is made every ${formatAge(everySeconds)}, restored into a temporary database and compared.</p>
<p>${
    last === undefined
      ? html`<span class="badge bad">None</span> None has succeeded yet.`
      : html`<span class="badge ${isLate ? 'bad' : 'good'}">${isLate ? 'Late' : 'Good'}</span> The last that succeeded is ${formatAge(nowSeconds - last.started_at)} old.`
  }</p>`
}

function table(rows: readonly BackupRow[]): Html {
  return html`<div class="card list"><table class="stack people">
<thead><tr><th scope="col">When</th><th scope="col">State</th><th scope="col">File</th><th scope="col">Rows</th><th scope="col">Size</th></tr></thead>
<tbody>
${rows.map(
  (row) => html`<tr>
<td data-label="When">${timeOfSeconds(row.started_at)}</td>
<td data-label="State"><span>${state(row)}${row.error !== null && html`<br><span class="soft">${row.error}</span>`}</span></td>
<td data-label="File"><span>${row.file ?? '–'}</span></td>
<td data-label="Rows">${row.row_count === null ? '–' : formatCount(row.row_count)}</td>
<td data-label="Size">${row.bytes === null ? '–' : formatSize(row.bytes)}</td>
</tr>
`,
)}
</tbody>
</table></div>`
}

function state({ proved, file }: BackupRow): Html {
  if (proved) return html`<span class="badge good">Proved</span>`
  return file === null ? html`<span class="badge bad">Failed</span>` : html`<span class="badge bad">Not proved</span>`
}

function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
