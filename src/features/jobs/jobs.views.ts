import type { JobRow } from '../../platform/jobs/jobs.store.ts'
import { badges } from '../../platform/pages/components/badges.ts'
import { timeOfSeconds } from '../../platform/pages/components/times.ts'
import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'

interface Shown {
  now: number
  canRun: boolean
  path: string
}

export function jobsPage(rows: readonly JobRow[], shown: Shown): Page {
  return {
    title: 'Jobs',
    content: html`<h1>Jobs</h1>
<p>Work that extensions do at certain times, each on one node at a time.</p>
${
  rows.length === 0
    ? html`<div class="card empty"><h2>No jobs</h2><p>No extension declares any.</p></div>`
    : html`<div class="card list"><table class="stack people">
<thead><tr><th scope="col">Job</th><th scope="col">Schedule</th><th scope="col">Last run</th><th scope="col">Result</th><th scope="col">Next run</th>${shown.canRun && html`<th scope="col">Actions</th>`}</tr></thead>
<tbody>
${rows.map((row) => jobRow(row, shown))}
</tbody>
</table></div>`
}`,
  }
}

function jobRow(
  { name, schedule, due_at, held_until, started_at, error, failures }: JobRow,
  { now, canRun, path }: Shown,
): Html {
  const isRunning = held_until > now
  return html`<tr>
<td class="title" id="job-${name}">${name}</td>
<td data-label="Schedule">${schedule}</td>
<td data-label="Last run">${started_at === null ? 'Never' : timeOfSeconds(started_at)}</td>
<td data-label="Result">${resultOf({ isRunning, started_at, error, failures })}</td>
<td data-label="Next run">${due_at <= now ? 'Now' : timeOfSeconds(due_at)}</td>
${canRun && html`<td class="action"><form method="post" action="${path}/${encodeURIComponent(name)}/run"><button class="small" aria-describedby="job-${name}">Run job</button></form></td>`}
</tr>
`
}

type Result = Pick<JobRow, 'started_at' | 'error' | 'failures'> & { isRunning: boolean }

function resultOf({ isRunning, started_at, error, failures }: Result): Html | string {
  if (isRunning) return 'Running'
  if (started_at === null) return '–'
  if (error === null) return html`${badges(['Succeeded'])}`
  return html`<span>Failed${failures > 1 && ` ${failures} times in a row`}: ${error}</span>`
}
