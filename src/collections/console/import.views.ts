import { type Html, html } from '../../platform/pages/html.ts'
import type { Page } from '../../platform/pages/pages.ts'
import type { ImportRecord } from '../store/import-progress.ts'
import type { FileSummary, RowProblem } from '../transfer/serve-upload.ts'
import { maxUploadBytes } from '../transfer/uploads.ts'

/** What is imported. */
export interface ImportWords {
  one: string
  /** Also the name of its list, and of its command. */
  many: string
  /** What is confirmed before the same file is imported again. */
  again: string
  /** What a preview cannot tell. */
  hint?: string
}

/** What is in a file. */
export interface Inspection extends FileSummary {
  /** An earlier import of the same file. */
  known: ImportRecord | undefined
}

/** Of this run. */
export interface ImportResult {
  imported: number
  isInterrupted: boolean
  /** Rows that could be read, but not be stored. */
  refused: number
  /** The first of these. */
  problems: readonly RowProblem[]
}

export interface ImportedFile {
  fileName: string
  inspection: Inspection
  /** The labels of the columns of the samples. */
  samples: readonly string[]
}

const count = (number: number, one: string, many = `${one}s`) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

const fileField = html`<div class="field">
<label for="field-file">File</label>
<input type="file" id="field-file" name="file" accept=".csv,.ndjson,.jsonl" required>
</div>`

const script = html`<script src="/console/assets/import.js" type="module"></script>`

export function createImportViews(words: ImportWords) {
  const spaced = { one: words.one.replaceAll('-', ' '), many: words.many.replaceAll('-', ' ') }
  const list = `/console/${words.many}`
  const path = `${list}/import`
  const title = `Import ${spaced.many}`
  const counted = (number: number) => count(number, spaced.one, spaced.many)

  function importPage(columns: { required: readonly string[]; optional: readonly string[] }, problem?: string): Page {
    const { required, optional } = columns
    return {
      title,
      content: html`<section class="medium card">
<h1>${title}</h1>
<p>From a CSV file, whose first row names the columns, or from NDJSON with one JSON object per line.
${required.length > 0 && html`${names(required)} ${required.length === 1 ? 'is' : 'are'} required, `}${optional.length > 0 && html`${names(optional)} ${optional.length === 1 ? 'is' : 'are'} optional, and `}others are ignored. A file may have
${maxUploadBytes / 1024 / 1024} MB; for larger ones there is the command <code>${words.many}:import</code>.</p>
${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="${path}" enctype="multipart/form-data" data-import>
${fileField}
<p class="row"><button class="main" name="act" value="preview">Preview</button> <button name="act" value="import">Import at once</button></p>
</form>
<p class="beside"><a href="${list}">Back to the ${spaced.many}</a></p>
</section>
${script}`,
    }
  }

  function previewPage({ fileName, inspection, samples }: ImportedFile): Page {
    const { columns, columnCount, valid, rejected, known } = inspection
    const isDone = known?.finished_at != null
    return {
      title,
      content: html`<section class="card">
<h1>${title}</h1>
${
  isDone &&
  html`<p class="problem" role="alert">This file is imported already: ${counted((known?.records ?? 0) - (known?.rejected ?? 0))}.</p>`
}
<p>${fileName}: ${counted(valid)} to import, ${count(rejected, 'row')} with problems.</p>
<p>Columns: ${columns.map(({ name, isRead }, i) => html`${i > 0 && ', '}<code>${name}</code>${!isRead && html` <span class="soft">(ignored)</span>`}`)}${columnCount > columns.length && ` and ${count(columnCount - columns.length, 'more', 'more')}`}</p>
${inspection.samples.length > 0 && sampleTable(samples, inspection.samples)}
${problemTable(rejected, inspection.problems)}
<form method="post" action="${path}" enctype="multipart/form-data" data-import="${inspection.id}" data-rows="${valid + rejected}">
${carriedFile(fileName, inspection)}
${isDone && html`<p><label><input type="checkbox" name="again" value="yes" required> ${words.again}</label></p>`}
${words.hint !== undefined && html`<p class="hint">${words.hint}</p>`}
<p class="row"><button class="main" name="act" value="import"${valid === 0 && html` disabled`}>Import ${counted(valid)}</button>
<a class="button quiet" href="${path}">Another file</a></p>
</form>
${rejected > 0 && downloadForm(fileName, inspection)}
</section>
${script}`,
    }
  }

  function importedPage({ fileName, inspection }: ImportedFile, result: ImportResult): Page {
    const { imported, isInterrupted, refused } = result
    const rejected = inspection.rejected + refused
    const problems = [...inspection.problems, ...result.problems].sort((a, b) => a.line - b.line)
    return {
      title,
      content: html`<section class="card">
<p class="${isInterrupted ? 'problem' : 'notice'}" role="status">${count(imported, `${spaced.one} is`, `${spaced.many} are`)} imported.${
        isInterrupted && ' The service was stopped: import the same file again to go on.'
      }</p>
<h1>${title}</h1>
${problemTable(rejected, problems.slice(0, maxShownProblems))}
${rejected > 0 && downloadForm(fileName, inspection, result.problems)}
<p class="row"><a class="button main" href="${list}">To the ${spaced.many}</a> <a class="button" href="${path}">Another file</a></p>
</section>`,
    }
  }

  function downloadForm(fileName: string, inspection: Inspection, lines: ImportResult['problems'] = []): Html | false {
    return (
      inspection.carried !== undefined &&
      html`<form method="post" action="${path}" enctype="multipart/form-data">${carriedFile(fileName, inspection)}
${lines.length > 0 && html`<input type="hidden" name="lines" value="${JSON.stringify(lines)}">`}
<p><button name="act" value="rejected">Download the rows with their problems</button></p></form>`
    )
  }

  return { importPage, previewPage, importedPage }
}

const maxShownProblems = 20

function names(columns: readonly string[]): Html[] {
  return columns.map((column, i) => html`${i > 0 && (i === columns.length - 1 ? ' and ' : ', ')}<code>${column}</code>`)
}

function sampleTable(labels: readonly string[], rows: Inspection['samples']): Html {
  return html`<h2>The first of them</h2>
<table class="stack"><thead><tr>${labels.map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, i) =>
        i === 0 ? html`<td class="title">${cell}</td>` : html`<td data-label="${labels[i] ?? ''}">${cell}</td>\n`,
      )}</tr>`,
  )}</tbody></table>`
}

function problemTable(rejected: number, problems: ImportResult['problems']): Html | false {
  return (
    rejected > 0 &&
    html`<h2>${count(rejected, 'row is', 'rows are')} not imported</h2>
<table class="stack"><thead><tr><th scope="col">Line</th><th scope="col">Problem</th></tr></thead>
<tbody>${problems.map(({ line, problem }) => html`<tr><td class="title">Line ${line}</td><td data-label="Problem">${problem}</td></tr>`)}</tbody></table>
${rejected > problems.length && html`<p class="hint">The first ${problems.length} are shown.</p>`}`
  )
}

/** The file itself, as it was sent; a large one has to be chosen again. */
function carriedFile(fileName: string, { carried }: Inspection): Html {
  if (carried === undefined) return html`<p>The file is too large for this page: choose it once more.</p>${fileField}`
  return html`<input type="hidden" name="name" value="${fileName}"><input type="hidden" name="carried" value="${carried}">`
}
