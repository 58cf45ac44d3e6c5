import { once } from '../../../core/once.ts'
import { barChart } from '../../../platform/pages/components/charts.ts'
import { figureList } from '../../../platform/pages/components/figures.ts'
import { formatNumber } from '../../../platform/pages/components/numbers.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { SignIns } from '../sign-in-days.ts'

const dayFormat = once(() => new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' }))

export function signInsCard({ days, countedTo }: SignIns): Html {
  const signIns = days.map((day) => day.signIns)
  const failures = days.map((day) => day.failures)
  return html`<section class="card wide" aria-labelledby="sign-ins">
<h2 id="sign-ins">Sign-ins</h2>
${figureList([
  [formatNumber(sum(signIns)), `Sign-ins in ${days.length} days`],
  [formatNumber(sum(failures)), `Failures in ${days.length} days`],
])}
${barChart({
  id: 'sign-ins-by-day',
  title: 'Sign-ins by day',
  pointsName: 'Day (UTC)',
  points: days.map(({ day }) => dayFormat().format(new Date(day))),
  series: [
    { name: 'Sign-ins', tone: 'main', values: signIns },
    { name: 'Failures', tone: 'bad', values: failures },
  ],
})}
${countedTo !== undefined && html`<p class="hint">Counted up to ${time(countedTo)}. Later ones follow in a minute or two.</p>`}
<p class="beside"><a href="/console/audit">Audit trail</a></p>
</section>`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, each) => total + each, 0)
}
