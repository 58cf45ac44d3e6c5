/** What is asked before many products are changed, and what came of it. */
import { bulkBar } from '../../../platform/pages/components/bulk-bar.ts'
import { field, noProblems, type Problems, problemNote } from '../../../platform/pages/components/forms.ts'
import type { ListParameters } from '../../../platform/pages/components/list-links.ts'
import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import type { Outcome, PickedProducts } from '../bulk-changes.ts'
import { formatPrice, type Product } from '../product.ts'
import type { Picked } from '../products.store.ts'
import { listAddress, listPath } from './list-address.ts'

export type BulkAction = 'category' | 'price' | 'delete'

/** The new price. */
export type Preview = (product: Product) => number

export interface Asked {
  action: BulkAction
  picked: readonly Picked[]
  found: PickedProducts
  /** The query of the list, and its address. */
  back: string
  address: string
  percent: string
  category: string
  categories: readonly string[]
  problems?: Problems
  preview?: Preview
}

const styles = ['tables.css', 'products.css']
const action = `${listPath}/bulk`
/** Rows of a preview, and names in a sentence. */
const maxShown = 10

/** What can be done to several products, in the bar above the list. */
export function productBulkBar(here: ListParameters): Html {
  const button = (value: string, text: string) => html`<button name="action" value="${value}">${text}</button>`
  return bulkBar({
    action,
    back: new URLSearchParams(here).toString(),
    all: listAddress({ ...here, select: 'page' }),
    buttons: [
      button('activate', 'Activate'),
      button('deactivate', 'Deactivate'),
      button('category', 'Category…'),
      button('price', 'Price…'),
      button('delete', 'Delete…'),
    ],
  })
}

export function askPage(asked: Asked): Page {
  const { action: what, found, problems = noProblems, address } = asked
  const count = found.current.length
  const heading = headings[what](`${count} ${count === 1 ? 'product' : 'products'}`)
  return {
    title: heading,
    address,
    styles,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${problemNote(problems)}
${leftNote(found, { one: 'is left as it is', several: 'are left as they are' })}
${count > 0 && rows(asked)}
${count > 0 ? form(asked) : html`<p class="beside"><a href="${address}">Back to the list</a></p>`}
</section>`,
  }
}

const headings: Readonly<Record<BulkAction, (products: string) => string>> = {
  category: (products) => `The category of ${products}`,
  price: (products) => `The price of ${products}`,
  delete: (products) => `Delete ${products}?`,
}

function form({ action: what, picked, back, address, percent, category, categories, problems, preview }: Asked): Html {
  const step = (value: string, text: string, look = 'main') =>
    html`<button class="${look}" name="step" value="${value}">${text}</button>\n`
  const shown = { problems: problems ?? noProblems }
  return html`<form method="post" action="${action}">
<input type="hidden" name="action" value="${what}">
<input type="hidden" name="back" value="${back}">
${picked.map(({ id, version }) => html`<input type="hidden" name="pick" value="${id}:${version}">`)}
${
  what === 'category' &&
  html`${field({ label: 'New category', name: 'category', value: category, maxlength: 100, autocomplete: 'off', autofocus: true, list: 'categories', hint: 'Left empty, it is “general”.', ...shown })}
<datalist id="categories">${categories.map((each) => html`<option value="${each}"></option>`)}</datalist>`
}
${
  what === 'price' &&
  (preview
    ? html`<input type="hidden" name="percent" value="${percent}">`
    : field({
        label: 'Change in percent',
        name: 'percent',
        value: percent,
        required: true,
        maxlength: 12,
        inputmode: 'decimal',
        autocomplete: 'off',
        autofocus: true,
        hint: 'Such as 10, or -12.5 for less. Prices are rounded to the cent.',
        ...shown,
      }))
}
<div class="row">
${what === 'category' && step('confirmed', 'Set the category')}${what === 'delete' && step('confirmed', 'Delete', 'bad')}${
  what === 'price' && (preview ? step('confirmed', 'Change the prices') : step('preview', 'Show the new prices'))
}${preview && step('ask', 'Another percentage', '')}<a class="button quiet" href="${address}">Cancel</a></div>
</form>`
}

/** The first of them, as they are and will be. */
function rows({ found, preview }: Asked): Html {
  const { current } = found
  const more = current.length - maxShown
  return html`<table class="stack preview">
<thead><tr><th scope="col">Name</th><th scope="col">Category</th><th scope="col" class="number">Price</th>${
    preview && html`<th scope="col" class="number">New price</th>`
  }</tr></thead>
<tbody>${current.slice(0, maxShown).map(
    (product) => html`<tr><td class="title">${product.name}</td><td data-label="Category">${product.category}</td>
<td class="number" data-label="Price">${formatPrice(product.price_cents)}</td>${
      preview && html`<td class="number" data-label="New price">${formatPrice(preview(product))}</td>`
    }</tr>\n`,
  )}</tbody></table>
${more > 0 && html`<p class="soft">And ${more} more.</p>`}`
}

export interface ResultView {
  outcome: Outcome
  isDeletion: boolean
  address: string
  back: string
}

export function resultPage({ outcome, isDeletion, address, back }: ResultView): Page {
  const { changed, same } = outcome
  const word = isDeletion ? 'deleted' : 'changed'
  const heading = `${changed.length} ${changed.length === 1 ? 'product' : 'products'} ${word}`
  return {
    title: heading,
    address,
    styles,
    content: html`<section class="medium card">
<h1>${heading}</h1>
${same > 0 && html`<p role="status">${same} ${same === 1 ? 'was' : 'were'} like that already.</p>`}
${leftNote(outcome, { one: `was not ${word}`, several: `were not ${word}` })}
${isDeletion && changed.length > 0 && undoForm(changed, back)}
<p class="beside"><a href="${address}">Back to the list</a></p>
</section>`,
  }
}

function undoForm(ids: readonly number[], back: string): Html {
  return html`<form method="post" action="${action}">
<input type="hidden" name="action" value="restore">
<input type="hidden" name="back" value="${back}">
${ids.map((id) => html`<input type="hidden" name="pick" value="${id}:1">`)}
<button>Undo</button>
</form>`
}

/** Those that are not as they were when they were selected. */
function leftNote(
  { stale, gone }: Pick<PickedProducts, 'stale' | 'gone'>,
  words: { one: string; several: string },
): Html | false {
  const names = stale.slice(0, maxShown)
  const more = stale.length - names.length
  return (
    stale.length + gone > 0 &&
    html`<div class="problem" role="alert">
${
  stale.length > 0 &&
  html`<p>${stale.length} ${stale.length === 1 ? 'product was' : 'products were'} changed by somebody else meanwhile and ${stale.length === 1 ? words.one : words.several}:
${names.map(({ id, name }, i) => html`${i > 0 && ', '}<a href="${listPath}/${id}">${name}</a>`)}${more > 0 && ` and ${more} more`}.</p>`
}
${gone > 0 && html`<p>${gone} ${gone === 1 ? 'is' : 'are'} deleted already.</p>`}
</div>`
  )
}
