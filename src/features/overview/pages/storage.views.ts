import { factList } from '../../../platform/pages/components/facts.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatBytes } from '../../../platform/pages/components/numbers.ts'
import { type Html, html } from '../../../platform/pages/html.ts'

type Sizes = Readonly<Record<string, number>>

/** What could not be found out is left out. A new SQLite database is nearly all in its log. */
export function storageCard({ data, wal = 0 }: Sizes, { free, total }: Sizes): Html {
  return html`<section class="card" aria-labelledby="database">
<h2 id="database">Database</h2>
${figureList([[data === undefined ? '–' : formatBytes(data + wal), 'Size']])}
${
  (wal > 0 || free !== undefined) &&
  factList([
    ...(wal > 0 ? [['Of it, log', formatBytes(wal)] as const] : []),
    ...(free === undefined || total === undefined
      ? []
      : [['Free disk', `${formatBytes(free)} of ${formatBytes(total)}`] as const]),
  ])
}
</section>`
}
