/** The pages of one product: forms to create and edit it, and a read-only view. */

import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Product } from '../product.ts'
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
${fields(view, { isNew: true })}
<div class="row"><button class="main">Create</button><a class="button quiet" href="${path}" data-back>Cancel</a></div>
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
${fields(view, { isNew: false })}
<div class="row"><button class="main">${note ? 'Save mine' : 'Save'}</button><a class="button quiet" href="${path}" data-back>Back to the list</a></div>
</form>
</section>
<section class="medium card">
<h2>Delete</h2>
<p class="soft">It is gone from every list at once. You can undo it right after.</p>
<form method="post" action="${path}/${id}/delete" data-confirm="Delete “${name}”?" data-confirm-button="Delete"><button class="bad">Delete this product</button></form>
</section>`,
  }
}

/** For users who may not write. */
export function detailsPage(product: Product, price: string): Page {
  const { name, description, category, stock, created_at, updated_at } = product
  const facts: [string, Html | string][] = [
    ['Status', statusBadge(product)],
    ['Price', price],
    ['Stock', stock.toLocaleString('en')],
    ['Category', category],
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

/** The values of the form. */
export function valuesOf({ name, description, price_cents, category, stock, active }: Product): Form {
  return { name, description, price: (price_cents / 100).toFixed(2), category, stock, active: String(active) }
}

/** Number fields are text inputs, because a number input does not redisplay invalid values. */
function fields(
  { values = {}, problems = noProblems, categories = [] }: FormView,
  { isNew }: { isNew: boolean },
): Html {
  const shared = (name: string) => ({ name, value: values[name], problems })
  return html`${field({ ...shared('name'), label: 'Name', required: true, maxlength: 255, autocomplete: 'off', autofocus: isNew })}
${field({ ...shared('description'), label: 'Description', type: 'textarea', required: isNew })}
<div class="pair">
${field({ ...shared('price'), label: 'Price in dollars', hint: 'Such as 1234.50.', required: true, inputmode: 'decimal', autocomplete: 'off' })}
${field({ ...shared('stock'), label: 'Stock', required: !isNew, inputmode: 'numeric', autocomplete: 'off' })}
</div>
${field({ ...shared('category'), label: 'Category', maxlength: 100, autocomplete: 'off', list: 'categories', hint: 'Left empty, it is “general”.' })}
<datalist id="categories">${categories.map((each) => html`<option value="${each}"></option>`)}</datalist>
${!isNew && activeBox(values.active, problems)}`
}

function activeBox(active: unknown, problems: Problems): Html {
  const errors = problems.fields.active ?? []
  return html`<div class="field check"><input type="checkbox" id="field-active" name="active" value="true"${active === 'true' && html` checked`} aria-describedby="field-active-hint">
<label for="field-active">Active</label>
<p class="hint" id="field-active-hint">Only active products are found by a search or a category.</p>
${errors.length > 0 && html`<p class="error">${errors.join('. ')}.</p>`}</div>`
}
