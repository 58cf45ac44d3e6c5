/**
 * Values that are changed in their row, see components/row-edit.ts. The server renders the row as a form, and as a row again: what works without
 * scripts by loading the whole page works here in place.
 */
import { load } from './results.js'
import { writeTimes } from './times.js'
import { tell } from './toasts.js'

document.addEventListener('click', async (event) => {
  const link = event.target.closest?.('a[data-edit]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
  event.preventDefault()
  const row = link.closest('tr')
  const { edit: column } = link.dataset
  const fresh = rowIn(await load(link.href), row)
  if (!fresh) return location.assign(link.href)
  if (!row.isConnected) return
  const field = replace(row, fresh).querySelector(`[name="${column}"]`)
  field?.focus()
  field?.select?.()
})

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[data-edit-cancel]')
  if (!link) return
  event.preventDefault()
  cancel(link.closest('tr'))
})

document.addEventListener('keydown', (event) => {
  const row = event.target.closest?.('tr[data-edited]')
  if (!row || event.key !== 'Escape') return
  event.preventDefault()
  cancel(row)
})

document.addEventListener('submit', async (event) => {
  const form = event.target
  const row = form.closest('tr[data-edited]')
  if (!row) return
  event.preventDefault()
  const fields = new URLSearchParams(new FormData(form))
  fields.set('_in_place', 'true')
  const page = await send(form.action, fields)
  const fresh = rowIn(page, row)
  // Signed out, or gone: the page of the service tells it.
  if (!page || (!fresh && !page.getElementById('results'))) return form.submit()
  if (!row.isConnected) return
  if (!fresh) return tellGone(page)
  const shown = replace(row, fresh)
  if (fresh.dataset.edited === undefined) {
    shown.classList.add('fresh')
    tell(form.dataset.saved)
  }
  ;(shown.querySelector('[aria-invalid]') ?? shown.querySelector('[form^="edit-"], a.edit'))?.focus()
})

/** The row stays as it is, with what was typed. */
function tellGone(page) {
  const note = page.querySelector('[data-gone]')
  if (!note) return location.reload()
  document.querySelector('[data-gone]')?.remove()
  document.getElementById('results').before(document.adoptNode(note))
}

async function cancel(row) {
  const { href } = row.querySelector('a[data-edit-cancel]')
  const fresh = rowIn(await load(href), row)
  if (!fresh) return location.assign(href)
  replace(row, fresh).querySelector('a.edit')?.focus()
}

/** The answer, or undefined without a connection: the form is then submitted, and the browser says so. */
async function send(address, body) {
  try {
    const response = await fetch(address, { method: 'POST', body, headers: { accept: 'text/html' } })
    return new DOMParser().parseFromString(await response.text(), 'text/html')
  } catch {
    return undefined
  }
}

function rowIn(page, { dataset: { id } }) {
  return page?.querySelector(`#results tr[data-id="${id}"]`)
}

/** The box of the row stays ticked. */
function replace(row, fresh) {
  const box = fresh.querySelector('input[name="pick"]')
  if (box) box.checked = row.querySelector('input[name="pick"]')?.checked ?? false
  const shown = document.adoptNode(fresh)
  writeTimes(shown)
  row.replaceWith(shown)
  return shown
}
