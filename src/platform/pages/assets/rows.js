/** Updates rows in place, so that the list does not move under the reader. */
import { announce, load } from './results.js'

/** Returns how many rows are deleted, and whether the list would now have others. Undefined if the service is unreachable. */
export async function updateRows(results, { types, isCut }) {
  const rows = [...results.querySelectorAll('[data-id]')].filter(({ dataset: { id } }) => isCut || types.has(id))
  const found = { deleted: 0, isOther: isCut }
  // What was found by a search or a category may be joined by any product.
  const isSearch = results.dataset.list === 'found' && types.size > 0
  if (rows.length === 0 && !isSearch) return found
  const page = await load(location.href)
  if (!page) return undefined
  // Another page, such as the sign-in form, or another list is shown by now.
  if (!page.getElementById('results') || !results.isConnected) return found
  announce('count', page.getElementById('count').textContent)
  for (const row of rows) {
    const fresh = page.querySelector(`#results [data-id="${row.dataset.id}"]`)
    const type = types.get(row.dataset.id)
    if (fresh) update(row, fresh)
    else if (type === 'product.deleted') found.deleted += mark(row, 'Deleted')
    else if (type !== undefined) found.isOther ||= mark(row, 'Changed') > 0
  }
  found.isOther ||= isSearch && [...page.querySelectorAll('#results [data-id]')].some((row) => !isIn(results, row))
  return found
}

function isIn(results, { dataset: { id } }) {
  return results.querySelector(`[data-id="${id}"]`) !== null
}

/** Keeps links and boxes, which may have the focus or be ticked, and rows in which somebody types. */
function update(row, fresh) {
  row.dataset.version = fresh.dataset.version
  if (row.innerHTML === fresh.innerHTML || row.dataset.edited !== undefined) return
  for (const [i, cell] of [...row.cells].entries()) {
    const link = cell.querySelector('a')
    const box = cell.querySelector('input[name="pick"]')
    if (link) link.textContent = fresh.cells[i].textContent
    else if (box) box.value = fresh.cells[i].querySelector('input').value
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
