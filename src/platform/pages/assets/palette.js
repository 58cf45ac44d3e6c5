/** The command palette: the page /console/search as a dialog that opens with Ctrl-K. */
import { createSheet, loadPart } from './sheet.js'

/** After the last key. */
const waitMs = 150

export function openPaletteOnDemand() {
  const link = document.querySelector('a.find')
  if (!link) return
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    openPalette()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return
    event.preventDefault()
    if (!document.querySelector('dialog[open]')) openPalette()
  })
}

function openPalette() {
  const sheet = createSheet({ className: 'palette', label: 'Search the console' })
  sheet.innerHTML = `<label for="palette-field">Search the console</label>
<input id="palette-field" type="search" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autocomplete="off" maxlength="200">
<ul id="palette-list" role="listbox" aria-label="Found"></ul>
<p class="soft" role="status"></p>`
  const field = sheet.querySelector('input')
  const list = sheet.querySelector('ul')
  const status = sheet.querySelector('[role=status]')
  let timer
  let running

  async function find() {
    running?.abort()
    running = new AbortController()
    const { signal } = running
    const asked = field.value
    const found = await loadPart(`/console/search?q=${encodeURIComponent(asked)}`, 'found', signal)
    if (signal.aborted) return
    if (!found) {
      status.textContent = 'The search does not answer. Are you signed in and online?'
      return
    }
    field.dataset.found = asked
    list.replaceChildren(...[...found.querySelectorAll('a')].map(toOption))
    const { length } = list.children
    status.textContent = length === 0 ? 'Nothing found.' : ''
    choose(0)
  }

  function choose(index) {
    const options = [...list.children]
    for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === index))
    if (options[index]) {
      field.setAttribute('aria-activedescendant', options[index].id)
      options[index].scrollIntoView({ block: 'nearest' })
    } else field.removeAttribute('aria-activedescendant')
  }

  function chosen() {
    return [...list.children].findIndex((option) => option.getAttribute('aria-selected') === 'true')
  }

  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(find, waitMs)
  })
  field.addEventListener('keydown', async (event) => {
    const { length } = list.children
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (length > 0) choose((chosen() + (event.key === 'ArrowDown' ? 1 : length - 1)) % length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      clearTimeout(timer)
      if (field.value !== (field.dataset.found ?? '')) await find()
      list.children[chosen()]?.click()
    }
  })
  field.focus()
  find()
}

function toOption(link, index) {
  const option = document.createElement('li')
  option.id = `palette-${index}`
  option.setAttribute('role', 'option')
  option.append(...link.childNodes)
  option.addEventListener('click', () => {
    location.href = link.getAttribute('href')
  })
  return option
}
