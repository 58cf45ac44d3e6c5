/** Forms that send the request of an operation, built from openapi.json when one is opened. */
import { authorization, refused, sender } from './access.js'

const timeoutMs = 60_000
const maxShown = 200_000
let description

for (const button of document.querySelectorAll('[data-try]')) {
  button.setAttribute('aria-expanded', 'false')
  button.addEventListener('click', async () => {
    const isOpen = button.getAttribute('aria-expanded') === 'true'
    button.setAttribute('aria-expanded', String(!isOpen))
    if (isOpen) return button.nextElementSibling.remove()
    description ??= fetch('openapi.json').then((response) => response.json())
    const form = build(findOperation(await description, button.dataset.try))
    button.after(form)
    form.querySelector('input, textarea, button').focus()
  })
}

function findOperation({ paths }, id) {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (operation.operationId === id) return { path, method: method.toUpperCase(), operation }
    }
  }
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

function build({ path, method, operation }) {
  const { operationId, parameters = [], requestBody } = operation
  const form = element('form', { className: 'try' })
  const warning = `For real: this ${method} changes data of this service.`
  if (method !== 'GET') form.append(element('p', { className: 'problem' }, warning))
  const labelled = (name, note, control) => {
    control.id = `${operationId}-try-${name}`
    const label = element('label', { htmlFor: control.id }, name, ' ', element('span', { className: 'optional' }, note))
    form.append(element('div', { className: 'field' }, label, control))
    return control
  }
  const inputs = parameters.map(({ name, in: place, required, schema }) => {
    // Nobody deletes an example by mistake.
    const value = required && method !== 'DELETE' ? (schema.examples?.[0] ?? '') : ''
    return { name, place, input: labelled(name, place, element('input', { value, required, autocomplete: 'off' })) }
  })
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  const { example = '' } = media ?? {}
  const value = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  const body = media && labelled('body', type, element('textarea', { value, rows: 8, spellcheck: false }))
  const whoLink = element('a', { href: '#docs-access' }, sender())
  whoLink.dataset.who = ''
  const button = element('button', { className: method === 'DELETE' ? 'bad' : 'main' }, `Send ${method}`)
  const answer = element('div', { className: 'answer', tabIndex: -1, role: 'group', ariaLabel: 'Answer', hidden: true })
  form.append(element('p', {}, 'From ', whoLink), button, answer)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    answer.replaceChildren(...(await send(requestOf({ path, method, inputs, type, body }))))
    answer.hidden = false
    answer.focus()
    button.disabled = false
  })
  return form
}

function requestOf({ path, method, inputs, type, body }) {
  const given = (place) => inputs.filter((each) => each.place === place && each.input.value !== '')
  const filled = given('path').reduce(
    (text, { name, input }) => text.replace(`{${name}}`, encodeURIComponent(input.value)),
    path,
  )
  // Relative to the page, because a proxy may add a prefix.
  const url = new URL(`.${filled}`, location.href)
  for (const { name, input } of given('query')) url.searchParams.append(name, input.value)
  const headers = Object.fromEntries(given('header').map(({ name, input }) => [name, input.value]))
  const text = body?.value || undefined
  return { url, method, headers: { ...headers, ...(text && { 'content-type': type }) }, body: text }
}

/** Returns what to show. */
async function send({ url, headers, ...rest }) {
  const line = (text) => element('p', { className: 'status-line' }, text)
  const started = performance.now()
  try {
    const response = await fetch(url, {
      ...rest,
      headers: { ...headers, ...(await authorization()) },
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    if (response.status === 401) refused()
    const named = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
    const code = (content) => element('pre', { tabIndex: 0 }, element('code', {}, content))
    return [
      line(`${response.status} ${response.statusText}, ${Math.round(performance.now() - started)} ms`),
      element('details', {}, element('summary', {}, 'Headers'), code(named)),
      ...(text === '' ? [] : [code(pretty(text).slice(0, maxShown))]),
    ]
  } catch (error) {
    return [line(`No answer: ${error.message}`)]
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
