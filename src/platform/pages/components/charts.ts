/** Charts as inline SVG, without scripts and without inline styles. The same figures are in a table below. */
import { type Html, html } from '../html.ts'
import { formatNumber } from './numbers.ts'

export interface BarChart {
  /** Of the chart, unique on its page. */
  id: string
  /** What it shows, in a few words: `Sign-ins by day`. */
  title: string
  /** The head of the first column of its table: `Day`. */
  pointsName: string
  /** From left to right. */
  points: readonly string[]
  /** Drawn on top of each other, the first at the bottom. */
  series: readonly ChartSeries[]
}

export interface ChartSeries {
  name: string
  tone: 'main' | 'bad'
  /** One for each point. */
  values: readonly number[]
}

/** Stretched to the width of the page, so nothing but bars is drawn. */
const width = 600
const height = 120
/** Of the room for a bar. */
const barShare = 0.8

export function barChart(chart: BarChart): Html {
  const { id, title, points, series } = chart
  const totals = points.map((_, i) => series.reduce((total, { values }) => total + (values[i] ?? 0), 0))
  const highest = Math.max(0, ...totals)
  return html`<figure class="chart">
<figcaption id="${id}-caption">${title}</figcaption>
<p class="legend" aria-hidden="true">${series.map(({ name, tone }) => html`<span class="${tone}">${name}</span> `)}</p>
<p class="highest" aria-hidden="true">${formatNumber(highest)}</p>
<svg role="img" aria-label="${describe(chart, totals)}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
<line class="base" x1="0" y1="${height}" x2="${width}" y2="${height}"/>
${highest > 0 && bars(chart, highest)}
</svg>
<p class="ends" aria-hidden="true"><span>${points[0] ?? ''}</span><span>${points.at(-1) ?? ''}</span></p>
${table(chart)}
</figure>`
}

function bars({ points, series }: BarChart, highest: number): Html[] {
  const room = width / points.length
  return points.map((_, i) => {
    let below = 0
    return html`${series.map(({ tone, values }) => {
      const value = values[i] ?? 0
      const [from, to] = [below, below + value].map((each) => height - (height * each) / highest) as [number, number]
      below += value
      const x = room * (i + (1 - barShare) / 2)
      return (
        value > 0 &&
        html`<rect class="${tone}" x="${round(x)}" y="${round(to)}" width="${round(room * barShare)}" height="${round(from - to)}"/>`
      )
    })}`
  })
}

function describe({ title, points, series }: BarChart, totals: readonly number[]): string {
  const sums = series.map(({ name, values }) => `${name}: ${formatNumber(values.reduce((sum, each) => sum + each, 0))}`)
  const most = totals.indexOf(Math.max(...totals))
  const peak = (totals[most] ?? 0) > 0 ? ` Most: ${points[most]}.` : ''
  return `${title}. ${sums.join(', ')}.${peak} The figures are in the table below.`
}

function table({ title, pointsName, points, series }: BarChart): Html {
  return html`<details class="figures">
<summary>${title}, as a table</summary>
<table>
<thead><tr><th scope="col">${pointsName}</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>
${points.map(
  (point, i) =>
    html`<tr><th scope="row">${point}</th>${series.map(({ values }) => html`<td class="number">${formatNumber(values[i] ?? 0)}</td>`)}</tr>\n`,
)}
</tbody>
</table>
</details>`
}

function round(length: number): number {
  return Math.round(length * 100) / 100
}
