/** The pages of one product: forms to create and edit it, and a read-only view. */

import { type Fact, factList } from '../../../platform/pages/components/facts.ts'
import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Product } from '../product.ts'
import { type FormField, fieldsOf, formFields, type NamedField } from './form-fields.ts'
import { statusBadge } from './list-columns.ts'
import type { Form } from './product-forms.ts'

interface FormView {
  /** As it is saved; undefined for a new one. */
  product?: Product | undefined
  values?: Form | undefined
  problems?: Problems | undefined
  /** Shown above the form. */
  note?: Html | undefined
  categories?: readonly string[]
}

const path = '/console/products'
const styles = ['products.css']

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

/** Above the form of a new product that is filled from another one. */
export function duplicateNote({ id, name }: Pick<Product, 'id' | 'name'>): Html {
  return html`<p class="notice">Filled in from <a href="${path}/${id}">${name}</a>. Nothing is saved yet.</p>`
}

interface EditView {
  product: Product
  /** The ETag of the product that is edited. */
  tag: string
  /** Cards beside the form. */
  beside: Html
}

export function editPage({ product, tag, beside, ...view }: FormView & EditView): Page {
  const { id, name } = product
  const { problems = noProblems, note } = view
  return {
    title: name,
    styles,
    content: html`<div class="row head"><h1>${name}</h1><a class="button end" href="${path}/new?from=${id}">Duplicate</a></div>
<div class="product">
<div>
<section class="medium card">
${note}${problemNote(problems)}
<form method="post" action="${path}/${id}">
<input type="hidden" name="tag" value="${tag}">
${fields({ ...view, product }, { isNew: false })}<div class="row"><button class="main">${note ? 'Save mine' : 'Save'}</button><a class="button quiet" href="${path}" data-back>Back to the list</a></div>
</form>
</section>
<section class="medium card">
<h2>Delete</h2>
<p class="soft">It is gone from every list at once. You can undo it right after.</p>
<form method="post" action="${path}/${id}/delete" data-confirm="Delete “${name}”?" data-confirm-button="Delete"><button class="bad">Delete this product</button></form>
</section>
</div>
<div>
${factsCard(product)}
${beside}
</div>
</div>`,
  }
}

/** What nobody types. */
function factsCard(product: Product): Html {
  return html`<section class="card" aria-labelledby="facts">
<h2 id="facts">Facts</h2>
${factList([['Status', statusBadge(product)], ...factsOf(product)])}
</section>`
}

function factsOf({ id, slug, version, created_at, updated_at }: Product): Fact[] {
  return [
    ['ID', String(id)],
    ['Slug', slug],
    ['Version', version.toLocaleString('en')],
    ['Created', time(created_at)],
    ['Changed', time(updated_at)],
  ]
}

const shownAbove = new Set(['name', 'description', 'active'])

/** Of a description; it may be a megabyte, and escaping makes it five times as long. */
const maxShown = 10_000

function wholeLink({ id, description }: Product): Html {
  return html`<a href="/api/v2/products/${id}">Show all ${description.length.toLocaleString('en')} characters</a>`
}

/** Instead of a field that is too long for a form: see `valuesToEdit`. */
function leftAsItIs(label: string, product: Product): Html {
  return html`<div class="field"><p class="label">${label}</p>
<p class="hint">Too long to edit here. Saving leaves it as it is; to change it, use the API. ${wholeLink(product)}</p></div>`
}

/** For users who may not write. */
export function detailsPage(product: Product, beside: Html): Page {
  const { name, description } = product
  const others = formFields.filter(([field]) => !shownAbove.has(field))
  const facts: Fact[] = [
    ['Status', statusBadge(product)],
    ...others.map(([, { label, toText, toValue }]): Fact => [label, (toText ?? toValue)(product)]),
    ...factsOf(product),
  ]
  return {
    title: name,
    styles,
    content: html`<div class="product">
<section class="medium card">
<h1>${name}</h1>
<p class="text">${description.length > maxShown ? html`${description.slice(0, maxShown).toWellFormed()}…` : description}</p>
${description.length > maxShown && html`<p class="beside">${wholeLink(product)}</p>`}
${factList(facts)}
<p class="beside"><a href="${path}" data-back>Back to the list</a></p>
</section>
<div>
${beside}
</div>
</div>`,
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
  const { values = {}, problems = noProblems, categories = [], product } = view
  const { label, checkbox, isMultiline, input } = shown
  if (checkbox) return box({ name, label, hint: checkbox.hint, isOn: values[name] === 'true', problems })
  if (isMultiline && product && values[name] === undefined) return leftAsItIs(label, product)
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
