import { type Html, html } from '../html.ts'

export type Fact = readonly [name: string, value: Html | string]

/** Names and values, one pair per line. */
export function factList(facts: readonly Fact[]): Html {
  return html`<dl>
${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}
</dl>`
}
