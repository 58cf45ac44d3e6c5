/** Updates rows in place, so that the list does not move under the reader. */
import { announce, load } from './results.js'

/** Returns how many rows were deleted, and how many have changed so that they no longer belong on this page. */
export async function updateRows(results, { changes, isCut }) {
  const rows = [...results.querySelectorAll('[data-id]')].filter(({ dataset: { id } }) => isCut || changes.has(id))
  const count = { deleted: 0, moved: 0 }
  if (rows.length === 0) return count
  const page = await load(location.href)
  // The service is unreachable, or another list is shown by now.
  if (!page?.getElementById('results') || !results.isConnected) return count
  announce('count', page.getElementById('count').textContent)
  for (const row of rows) {
    const fresh = page.querySelector(`#results [data-id="${row.dataset.id}"]`)
    const kind = changes.get(row.dataset.id)
    if (fresh) update(row, fresh)
    else if (kind === 'deleted') count.deleted += mark(row, 'Deleted')
    else if (kind !== undefined) count.moved += mark(row, 'Changed')
  }
  return count
}

/** Keeps the link element, which may have the focus. */
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

/** Returns 1 if the row was not marked so before, otherwise 0. */
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
