import { type Html, html } from '../html.ts'

export type Figure = readonly [value: Html | string, name: string]

/** Large numbers beside each other, each with its name. */
export function figureList(figures: readonly Figure[]): Html {
  return html`<dl class="figure-list">
${figures.map(([value, name]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}
</dl>`
}
