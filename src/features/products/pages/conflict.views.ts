import { conflictNote as note } from '../../../platform/pages/components/conflict.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Product } from '../product.ts'
import { type FormField, formFields, valuesOf } from './form-fields.ts'
import type { Form } from './product-forms.ts'

/** Shown above the form with the submitted values. */
export function conflictNote(product: Product, typed: Form): Html {
  const saved = valuesOf(product)
  // A field that was not sent is left as it is: see `valuesToEdit`.
  const differing = formFields.filter(
    ([name, field]) => typed[name] !== undefined && !isSame(field, typed[name], saved[name]),
  )
  return note({
    lead: html`<strong>Somebody else changed this product</strong> at ${time(product.updated_at)}, after you opened it.`,
    differing: differing.map(([name, { label }]) => {
      return { label, yours: String(typed[name]), saved: String(saved[name] ?? '') }
    }),
    address: `/console/products/${product.id}`,
  })
}

export const goneNote = html`<p class="problem" role="alert">This product has been deleted meanwhile. What you typed is
still here: you can make a new product of it.</p>`

function isSame({ toNumber }: FormField, one: unknown, other: unknown): boolean {
  return toNumber ? Number(one) === Number(other) : String(one ?? '') === String(other)
}
