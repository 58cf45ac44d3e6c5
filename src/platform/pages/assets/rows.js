/** Rows that change where they stand, for who reads the list or has the keyboard in it. */
import { load, tell } from './results.js'

/** Answers how many of the rows are deleted, and how many have changed so that this page would not hold them. */
export async function updateRows(results, { changes, isCut }) {
  const rows = [...results.querySelectorAll('[data-id]')].filter(({ dataset: { id } }) => isCut || changes.has(id))
  const count = { deleted: 0, moved: 0 }
  if (rows.length === 0) return count
  const page = await load(location.href)
  // Another list is shown by now, or none can be had.
  if (!page?.getElementById('results') || !results.isConnected) return count
  tell('count', page.getElementById('count').textContent)
  for (const row of rows) {
    const fresh = page.querySelector(`#results [data-id="${row.dataset.id}"]`)
    const kind = changes.get(row.dataset.id)
    if (fresh) update(row, fresh)
    else if (kind === 'deleted') count.deleted += mark(row, 'Deleted')
    else if (kind !== undefined) count.moved += mark(row, 'Changed')
  }
  return count
}

/** The link stays the same one: the keyboard may be on it. */
function update(row, fresh) {
  if (row.innerHTML === fresh.innerHTML) return
  for (const [i, cell] of [...row.cells].entries()) {
    const link = cell.querySelector('a')
    if (link) link.textContent = fresh.cells[i].textContent
    else cell.replaceChildren(...fresh.cells[i].childNodes)
  }
  row.classList.remove('gone')
  row.classList.add('fresh')
}

/** Answers whether it was not marked so before, as a number. */
function mark(row, text) {
  const last = row.cells[row.cells.length - 1]
  if (last.textContent === text) return 0
  const badge = document.createElement('span')
  badge.className = 'badge bad'
  badge.textContent = text
  last.replaceChildren(badge)
  row.classList.toggle('gone', text === 'Deleted')
  return 1
}
