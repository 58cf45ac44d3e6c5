import { type Html, html } from '../../../platform/pages/html.ts'
import type { Page } from '../../../platform/pages/pages.ts'
import { formatPrice } from '../product.ts'
import { readColumns, requiredColumns } from '../transfer/columns.ts'
import type { Inspection } from './product-uploads.ts'
import { maxUploadBytes } from './upload-forms.ts'

const path = '/console/products/import'

const count = (number: number, one: string, many = `${one}s`) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

export function importPage(problem?: string): Page {
  const optional = readColumns.filter((column) => !requiredColumns.includes(column))
  return {
    title: 'Import products',
    content: html`<section class="medium card">
<h1>Import products</h1>
<p>From a CSV file, whose first row names the columns, or from NDJSON with one JSON object per line.
${names(requiredColumns)} are required, ${names(optional)} are optional, and others are ignored. A file may have
${maxUploadBytes / 1024 / 1024} MB; for larger ones there is the command <code>products:import</code>.</p>
${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${path}" enctype="multipart/form-data" data-import>
${fileField}
<p class="row"><button class="main" name="act" value="preview">Preview</button> <button name="act" value="import">Import at once</button></p>
</form>
<p class="beside"><a href="/console/products">Back to the products</a></p>
</section>
${script}`,
  }
}

const fileField = html`<div class="field">
<label for="field-file">File</label>
<input type="file" id="field-file" name="file" accept=".csv,.ndjson,.jsonl" required>
</div>`

const script = html`<script src="/console/assets/import.js" type="module"></script>`

function names(columns: readonly string[]): Html[] {
  return columns.map((column, i) => html`${i > 0 && (i === columns.length - 1 ? ' and ' : ', ')}<code>${column}</code>`)
}

export function previewPage(fileName: string, inspection: Inspection): Page {
  const { columns, columnCount, valid, rejected, samples, known } = inspection
  const isDone = known?.finished_at != null
  return {
    title: 'Import products',
    content: html`<section class="card">
<h1>Import products</h1>
${
  isDone &&
  html`<p class="problem" role="alert">This file is imported already: ${count((known?.records ?? 0) - (known?.rejected ?? 0), 'product')}.</p>`
}
<p>${fileName}: ${count(valid, 'product')} to import, ${count(rejected, 'row')} with problems.</p>
<p>Columns: ${columns.map(({ name, isRead }, i) => html`${i > 0 && ', '}<code>${name}</code>${!isRead && html` <span class="soft">(ignored)</span>`}`)}${columnCount > columns.length && ` and ${count(columnCount - columns.length, 'more', 'more')}`}</p>
${
  samples.length > 0 &&
  html`<h2>The first of them</h2>
<table class="stack"><thead><tr><th scope="col">Name</th><th scope="col">Description</th><th scope="col">Price</th><th scope="col">Category</th><th scope="col">Stock</th></tr></thead>
<tbody>${samples.map(
    (each) => html`<tr><td class="title">${each.name}</td><td data-label="Description">${each.description}</td>
<td data-label="Price">${formatPrice(each.price_cents)}</td><td data-label="Category">${each.category}</td><td data-label="Stock">${each.stock}</td></tr>`,
  )}</tbody></table>`
}
${problems(inspection)}
<form method="post" action="${path}" enctype="multipart/form-data" data-import="${inspection.id}" data-rows="${valid + rejected}">
${carried(fileName, inspection)}
${isDone && html`<p><label><input type="checkbox" name="again" value="yes" required> Import it once more</label></p>`}
<p class="row"><button class="main" name="act" value="import"${valid === 0 && html` disabled`}>Import ${count(valid, 'product')}</button>
<a class="button quiet" href="${path}">Another file</a></p>
</form>
${rejected > 0 && downloadForm(fileName, inspection)}
</section>
${script}`,
  }
}

export function importedPage(
  fileName: string,
  inspection: Inspection,
  { imported, isInterrupted }: { imported: number; isInterrupted: boolean },
): Page {
  return {
    title: 'Import products',
    content: html`<section class="card">
<p class="${isInterrupted ? 'problem' : 'notice'}" role="status">${count(imported, 'product is', 'products are')} imported.${
      isInterrupted && ' The service was stopped: import the same file again to go on.'
    }</p>
<h1>Import products</h1>
${problems(inspection)}
${inspection.rejected > 0 && downloadForm(fileName, inspection)}
<p class="row"><a class="button main" href="/console/products">To the products</a> <a class="button" href="${path}">Another file</a></p>
</section>`,
  }
}

function problems({ rejected, problems }: Inspection): Html | false {
  return (
    rejected > 0 &&
    html`<h2>${count(rejected, 'row is', 'rows are')} not imported</h2>
<table class="stack"><thead><tr><th scope="col">Line</th><th scope="col">Problem</th></tr></thead>
<tbody>${problems.map(({ line, problem }) => html`<tr><td class="title">Line ${line}</td><td data-label="Problem">${problem}</td></tr>`)}</tbody></table>
${rejected > problems.length && html`<p class="hint">The first ${problems.length} are shown.</p>`}`
  )
}

function downloadForm(fileName: string, inspection: Inspection): Html | false {
  return (
    inspection.carried !== undefined &&
    html`<form method="post" action="${path}" enctype="multipart/form-data">${carried(fileName, inspection)}
<p><button name="act" value="rejected">Download the rows with their problems</button></p></form>`
  )
}

/** The file itself, as it was sent; a large one has to be chosen again. */
function carried(fileName: string, { carried }: Inspection): Html {
  if (carried === undefined) return html`<p>The file is too large for this page: choose it once more.</p>${fileField}`
  return html`<input type="hidden" name="name" value="${fileName}"><input type="hidden" name="carried" value="${carried}">`
}
