import { formatCount } from '../../../platform/command-line/progress.ts'
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

function summary(rows: readonly BackupRow[], nowSeconds: number, everySeconds: number | undefined): Html {
  if (everySeconds === undefined) {
    return html`<p>No backups are scheduled. Set <code>BACKUP_FOLDER</code> and <code>BACKUP_EVERY</code> to have them made.</p>`
  }
  const last = rows.find(({ proved }) => proved)
  const isLate = last !== undefined && nowSeconds - last.started_at > 2 * everySeconds
  return html`<p>One is made every ${inWords(everySeconds)}, restored into a temporary database and compared.</p>
<p>${
    last === undefined
      ? html`<span class="badge bad">None</span> None has succeeded yet.`
      : html`<span class="badge ${isLate ? 'bad' : 'good'}">${isLate ? 'Late' : 'Good'}</span> The last that succeeded is ${inWords(nowSeconds - last.started_at)} old.`
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

const units: readonly [name: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** `3 hours`, rounded down. */
function inWords(seconds: number): string {
  const [name, size] = units.find(([, each]) => seconds >= each) ?? ['second', 1]
  const count = Math.floor(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
