/**
 * Relations are found by searching, and shown by their titles. The field keeps the ids, and is what the form submits; without
 * scripts, people type into it. A combobox with a list, see https://www.w3.org/WAI/ARIA/apg/patterns/combobox/.
 */
const pauseMs = 180
/** Of this page. */
let lastId = 0

for (const field of document.querySelectorAll('[data-relation]')) enhance(field)

function enhance(field) {
  const isMany = field.dataset.many !== undefined
  const titles = new Map(Object.entries(JSON.parse(field.dataset.titles)))
  const { input, list, chips, box } = build(field, isMany)
  let active = -1
  let timer
  let underWay = new AbortController()

  const ids = () => field.value.split('\n').filter((id) => id.trim() !== '')
  const titleOf = (id) => titles.get(id) ?? (/^\d+$/.test(id) ? `ID ${id}` : id)
  const options = () => [...list.children]

  function show() {
    if (!isMany) {
      const [id] = ids()
      input.value = id === undefined ? '' : titleOf(id)
      return
    }
    chips.replaceChildren(
      ...ids().map((id) => {
        const chip = document.createElement('button')
        chip.type = 'button'
        chip.textContent = `${titleOf(id)} ×`
        chip.ariaLabel = `Remove ${titleOf(id)}`
        chip.addEventListener('click', () => {
          keep(ids().filter((each) => each !== id))
          input.focus()
        })
        const item = document.createElement('li')
        item.append(chip)
        return item
      }),
    )
    chips.hidden = chips.children.length === 0
  }

  function keep(chosen) {
    field.value = chosen.join('\n')
    show()
  }

  function choose({ dataset: { id }, textContent: title }) {
    titles.set(id, title)
    keep(isMany ? [...new Set([...ids(), id])] : [id])
    if (isMany) input.value = ''
    close()
  }

  function close() {
    clearTimeout(timer)
    underWay.abort()
    list.hidden = true
    active = -1
    input.ariaExpanded = 'false'
    input.removeAttribute('aria-activedescendant')
  }

  async function search() {
    underWay.abort()
    underWay = new AbortController()
    const found = await load({ q: input.value }, underWay.signal)
    if (!found || document.activeElement !== input) return
    list.replaceChildren(...found.map(({ id, title }) => option(String(id), title)))
    if (found.length === 0) list.replaceChildren(nothing())
    list.hidden = false
    active = -1
    input.ariaExpanded = 'true'
    input.removeAttribute('aria-activedescendant')
  }

  async function load(query, signal) {
    try {
      const response = await fetch(`${field.dataset.relation}?${new URLSearchParams(query)}`, { signal })
      return response.ok ? (await response.json()).data : undefined
    } catch {
      return undefined
    }
  }

  function option(id, title) {
    const item = document.createElement('li')
    item.id = `${list.id}-${id}`
    item.role = 'option'
    item.ariaSelected = String(ids().includes(id))
    item.dataset.id = id
    item.textContent = title
    return item
  }

  function nothing() {
    const item = document.createElement('li')
    item.role = 'option'
    item.ariaDisabled = 'true'
    item.ariaSelected = 'false'
    item.textContent = 'Nothing found'
    return item
  }

  function move(by) {
    const all = options().filter(({ dataset }) => dataset.id !== undefined)
    if (all.length === 0) return
    active = (active + by + all.length) % all.length
    for (const [i, each] of all.entries()) each.classList.toggle('active', i === active)
    all[active].scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', all[active].id)
  }

  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(search, pauseMs)
  })
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (list.hidden) search()
      else move(event.key === 'ArrowDown' ? 1 : active < 0 ? 0 : -1)
    } else if (event.key === 'Enter' && !list.hidden && active >= 0) {
      event.preventDefault()
      choose(options()[active])
    } else if (event.key === 'Enter') {
      takeTyped()
    } else if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault()
      close()
    }
  })
  // Before the input loses the focus.
  list.addEventListener('pointerdown', (event) => {
    event.preventDefault()
    const item = event.target.closest('[data-id]')
    if (item) choose(item)
  })
  input.addEventListener('blur', () => {
    close()
    takeTyped()
    name()
  })

  /** An id is known without a search; a blank field refers to nothing. */
  function takeTyped() {
    const text = input.value.trim()
    if (text === '' && !isMany) keep([])
    else if (/^\d+$/.test(text)) keep(isMany ? [...new Set([...ids(), text])] : [text])
    else show()
    if (isMany) input.value = ''
  }

  /** Ids that the page has no titles for, such as those of a draft. */
  async function name() {
    const unknown = ids().filter((id) => !titles.has(id))
    if (unknown.length === 0) return
    for (const { id, title } of (await load({ id: unknown.join() })) ?? []) titles.set(String(id), title)
    if (document.activeElement !== input) show()
  }

  field.hidden = true
  field.required = false
  field.removeAttribute('autofocus')
  field.after(box)
  show()
  name()
}

/** The input takes the label, the hint and the problem of the field. */
function build(field, isMany) {
  const box = document.createElement('div')
  const input = document.createElement('input')
  const list = document.createElement('ul')
  const chips = document.createElement('ul')
  lastId += 1
  list.id = `found-${lastId}`
  list.role = 'listbox'
  list.hidden = true
  list.ariaLabel = 'Found'
  input.id = field.id
  input.role = 'combobox'
  input.autocomplete = 'off'
  input.ariaAutoComplete = 'list'
  input.ariaExpanded = 'false'
  input.placeholder = 'Search…'
  input.setAttribute('aria-controls', list.id)
  if (field.required) input.ariaRequired = 'true'
  for (const name of ['aria-invalid', 'aria-describedby']) {
    const value = field.getAttribute(name)
    if (value !== null) input.setAttribute(name, value)
  }
  field.removeAttribute('id')
  box.className = 'relation'
  chips.className = 'chips'
  box.append(...(isMany ? [chips] : []), input, list)
  return { box, input, list, chips }
}
