/** What is shown above a form if somebody else has saved meanwhile: what was typed, beside what is saved now. */
import { type Html, html } from '../html.ts'
import { excerpts } from './excerpts.ts'

export interface Difference {
  label: string
  yours: string
  saved: string
}

export interface Conflict {
  /** What has happened. */
  lead: Html
  differing: readonly Difference[]
  /** Of what is saved now. */
  address: string
}

export function conflictNote({ lead, differing, address }: Conflict): Html {
  return html`<div class="problem" role="alert">
<p>${lead} What you
typed is not saved yet: it is in the form below.</p>
${
  differing.length > 0 &&
  html`<table class="stack">
<thead><tr><th scope="col">Field</th><th scope="col">Yours</th><th scope="col">Saved now</th></tr></thead>
<tbody>${differing.map(({ label, ...texts }) => {
    const [yours, saved] = excerpts(texts.yours, texts.saved)
    return html`<tr><th scope="row" class="title">${label}</th><td data-label="Yours">${shown(yours)}</td><td data-label="Saved now">${shown(saved)}</td></tr>`
  })}</tbody></table>`
}
<p>Save yours over it, or <a href="${address}">take what is saved now</a>.</p>
</div>`
}

function shown(text: string): Html | string {
  if (text === 'true') return 'yes'
  if (text === 'false') return 'no'
  return text === '' ? html`<em>empty</em>` : text
}
