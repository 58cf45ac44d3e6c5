/** The columns of a table, of which the reader chooses. */
import { type Html, html } from '../html.ts'
import { hiddenFields } from './list-fields.ts'
import { type ListParameters, type ShownList, sortableHead } from './list-links.ts'

export interface ChoosableColumn {
  name: string
  label: string
  /** Only shown to those who ask for it. */
  isExtra?: boolean
}

export interface Column<Row> extends ChoosableColumn {
  cell(row: Row): Html | string
  /** Of the cells. */
  className?: string
  /** The field to sort by. */
  sort?: string
}

/** Given as in the address: names separated by commas, or several values. None, or none that is known: the usual ones. */
export function chooseColumns<Own extends ChoosableColumn>(columns: readonly Own[], given: unknown): Own[] {
  const names = [given].flat().flatMap((each) => (typeof each === 'string' ? each.split(',') : []))
  const chosen = columns.filter(({ name }) => names.includes(name))
  return chosen.length > 0 ? chosen : columns.filter(({ isExtra }) => !isExtra)
}

/** The parameter of the address. None for the usual ones. */
export function columnsParameter(
  columns: readonly ChoosableColumn[],
  chosen: readonly ChoosableColumn[],
): { columns?: string } {
  const isUsual = columns.every((column) => chosen.includes(column) !== (column.isExtra ?? false))
  return isUsual ? {} : { columns: chosen.map(({ name }) => name).join(',') }
}

export interface ColumnForm {
  path: string
  /** The parameters of the address. */
  query: ListParameters
  columns: readonly ChoosableColumn[]
  chosen: readonly ChoosableColumn[]
}

/** Checkboxes, below the list. */
export function columnForm({ path, query, columns, chosen }: ColumnForm): Html {
  const { columns: _columns, ...others } = query
  return html`<details class="columns"><summary>Columns</summary>
<form method="get" action="${path}">
${hiddenFields(others)}
<fieldset><legend class="unseen">Columns</legend>
${columns.map(
  (column) =>
    html`<label><input type="checkbox" name="columns" value="${column.name}"${chosen.includes(column) && html` checked`}> ${column.label}</label>\n`,
)}</fieldset>
<button>Show these columns</button>
</form></details>`
}

/** A column of the page's own in front, such as checkboxes. */
export interface LeadingColumn<Row> {
  head: Html
  cell(row: Row): Html
}

export interface ColumnTable<Row> {
  rows: readonly Row[]
  chosen: readonly Column<Row>[]
  list: ShownList
  leading?: LeadingColumn<Row> | undefined
  /** Of the lines. */
  attributes?(row: Row): Html
}

export function columnTable<Row>({ rows, chosen, list, leading, attributes }: ColumnTable<Row>): Html {
  return html`<table>
<thead><tr>${leading?.head}${chosen.map(({ label, sort }) =>
    sort === undefined ? html`<th scope="col">${label}</th>` : sortableHead({ field: sort, text: label }, list),
  )}</tr></thead>
<tbody>
${rows.map(
  (row) => html`<tr${attributes?.(row)}>
${leading?.cell(row)}${chosen.map(
  ({ label, className = '', cell }) =>
    html`<td data-label="${label}" class="${className}"><span>${cell(row)}</span></td>\n`,
)}</tr>
`,
)}
</tbody>
</table>`
}
