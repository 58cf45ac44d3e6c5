/** The pages of one product: forms to create and edit it, and a read-only view. */

import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Product } from '../product.ts'
import { type FormField, fieldsOf, formFields, type NamedField } from './form-fields.ts'
import type { Form } from './product-forms.ts'
import { statusBadge } from './products.views.ts'

interface FormView {
  values?: Form | undefined
  problems?: Problems | undefined
  /** Shown above the form. */
  note?: Html | undefined
  categories?: readonly string[]
}

const path = '/console/products'

/** `key` is the form's idempotency key. */
export function newPage({ key = '', ...view }: FormView & { key?: string }): Page {
  return {
    title: 'New product',
    address: `${path}/new`,
    content: html`<section class="medium card">
<h1>New product</h1>
${view.note}${problemNote(view.problems ?? noProblems)}
<form method="post" action="${path}">
<input type="hidden" name="key" value="${key}">
${fields(view, { isNew: true })}<div class="row"><button class="main">Create</button><a class="button quiet" href="${path}" data-back>Cancel</a></div>
</form>
</section>`,
  }
}

/** `tag` is the ETag of the product that is edited. */
export function editPage({ id, tag, ...view }: FormView & { id: number; tag: string }): Page {
  const { values = {}, problems = noProblems, note } = view
  const name = String(values.name ?? '')
  return {
    title: name === '' ? 'Product' : name,
    content: html`<section class="medium card">
<h1>Edit product</h1>
${note}${problemNote(problems)}
<form method="post" action="${path}/${id}">
<input type="hidden" name="tag" value="${tag}">
${fields(view, { isNew: false })}<div class="row"><button class="main">${note ? 'Save mine' : 'Save'}</button><a class="button quiet" href="${path}" data-back>Back to the list</a></div>
</form>
</section>
<section class="medium card">
<h2>Delete</h2>
<p class="soft">It is gone from every list at once. You can undo it right after.</p>
<form method="post" action="${path}/${id}/delete" data-confirm="Delete “${name}”?" data-confirm-button="Delete"><button class="bad">Delete this product</button></form>
</section>`,
  }
}

const shownAbove = new Set(['name', 'description', 'active'])

/** For users who may not write. */
export function detailsPage(product: Product): Page {
  const { name, description, created_at, updated_at } = product
  const others = formFields.filter(([field]) => !shownAbove.has(field))
  const facts: [string, Html | string][] = [
    ['Status', statusBadge(product)],
    ...others.map(([, { label, toText, toValue }]): [string, string] => [label, (toText ?? toValue)(product)]),
    ['Created', time(created_at)],
    ['Changed', time(updated_at)],
  ]
  return {
    title: name,
    content: html`<section class="medium card">
<h1>${name}</h1>
<p class="text">${description}</p>
<dl>${facts.map(([term, fact]) => html`<div><dt>${term}</dt><dd>${fact}</dd></div>`)}</dl>
<p class="beside"><a href="${path}" data-back>Back to the list</a></p>
</section>`,
  }
}

function fields(view: FormView, form: { isNew: boolean }): Html {
  const lines = linesOf(fieldsOf(form)).map((line) => {
    const shown = line.map(([name, each]) => html`${control(name, each, view, form)}\n`)
    return line.length > 1 ? html`<div class="pair">\n${shown}</div>\n` : shown
  })
  return html`${lines}`
}

/** Neighbours that are half as wide share a line. */
function linesOf(list: readonly NamedField[]): NamedField[][] {
  const lines: NamedField[][] = []
  for (const each of list) {
    const line = lines.at(-1)
    if (each[1].isHalf && line?.length === 1 && line[0]?.[1].isHalf) line.push(each)
    else lines.push([each])
  }
  return lines
}

function control(name: string, shown: FormField, view: FormView, form: { isNew: boolean }): Html {
  const { values = {}, problems = noProblems, categories = [] } = view
  const { label, checkbox, isMultiline, input } = shown
  if (checkbox) return box({ name, label, hint: checkbox.hint, isOn: values[name] === 'true', problems })
  const type = isMultiline ? 'textarea' : 'text'
  const options = { name, label, type, value: values[name], problems, ...input?.(form) } as const
  const suggestions = html`\n<datalist id="categories">${categories.map((each) => html`<option value="${each}"></option>`)}</datalist>`
  return html`${field(options)}${options.list === 'categories' && suggestions}`
}

interface Box {
  name: string
  label: string
  hint: string
  isOn: boolean
  problems: Problems
}

function box({ name, label, hint, isOn, problems }: Box): Html {
  const errors = problems.fields[name] ?? []
  const id = `field-${name}`
  return html`<div class="field check"><input type="checkbox" id="${id}" name="${name}" value="true"${isOn && html` checked`} aria-describedby="${id}-hint">
<label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
${errors.length > 0 && html`<p class="error">${errors.join('. ')}.</p>`}</div>`
}
