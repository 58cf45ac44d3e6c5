/** Shows an edit conflict with both versions, so that neither is lost. */

import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { excerpts } from './excerpts.ts'
import { type FormField, formFields, valuesOf } from './form-fields.ts'
import type { Form } from './product-forms.ts'

/** Shown above the form with the submitted values. */
export function conflictNote(product: Product, typed: Form): Html {
  const saved = valuesOf(product)
  // A field that was not sent is left as it is: see `valuesToEdit`.
  const differing = formFields.filter(
    ([name, field]) => typed[name] !== undefined && !isSame(field, typed[name], saved[name]),
  )
  return html`<div class="problem" role="alert">
<p><strong>Somebody else changed this product</strong> at ${time(product.updated_at)}, after you opened it. What you
typed is not saved yet: it is in the form below.</p>
${
  differing.length > 0 &&
  html`<table class="stack">
<thead><tr><th scope="col">Field</th><th scope="col">Yours</th><th scope="col">Saved now</th></tr></thead>
<tbody>${differing.map(([name, { label }]) => {
    const [yours, savedNow] = excerpts(String(typed[name]), String(saved[name] ?? ''))
    return html`<tr><th scope="row" class="title">${label}</th><td data-label="Yours">${shown(yours)}</td><td data-label="Saved now">${shown(savedNow)}</td></tr>`
  })}</tbody></table>`
}
<p>Save yours over it, or <a href="/console/products/${product.id}">take what is saved now</a>.</p>
</div>`
}

export const goneNote = html`<p class="problem" role="alert">This product has been deleted meanwhile. What you typed is
still here: you can make a new product of it.</p>`

function isSame({ toNumber }: FormField, one: unknown, other: unknown): boolean {
  return toNumber ? Number(one) === Number(other) : String(one ?? '') === String(other)
}

function shown(text: string): Html | string {
  if (text === 'true') return 'yes'
  if (text === 'false') return 'no'
  return text === '' ? html`<em>empty</em>` : text
}
