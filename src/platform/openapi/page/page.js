/** What scripts add to the page: search, buttons that copy, the language that was chosen last, and "Try it". */
import './try-it.js'

const search = document.getElementById('docs-search')
const found = document.getElementById('docs-found')
const items = [...document.querySelectorAll('nav ul ul > li')]
const entries = items.map((item) => {
  const article = document.getElementById(item.firstElementChild.hash.slice(1))
  const parts = [article.id, article.querySelector('h3').textContent, article.querySelector('.route').textContent]
  const chapter = article.parentElement.querySelector('h2').textContent
  return { item, article, text: [...parts, chapter].join(' ').toLowerCase() }
})

function filter() {
  const words = search.value.toLowerCase().split(' ')
  for (const { item, article, text } of entries) {
    item.hidden = article.hidden = !words.every((word) => text.includes(word))
  }
  for (const { item, article } of entries) {
    const chapter = item.closest('nav > ul > li')
    chapter.hidden = article.parentElement.hidden = !chapter.querySelector('ul > li:not([hidden])')
  }
  const left = entries.filter(({ article }) => !article.hidden).length
  found.textContent = search.value.trim() === '' ? '' : `${left} of ${entries.length}`
}

function clear() {
  search.value = ''
  filter()
}

search.addEventListener('input', filter)
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') clear()
  const first = entries.find(({ article }) => !article.hidden)
  if (event.key === 'Enter' && first) {
    location.hash = first.article.id
    first.article.querySelector('h3 a').focus()
  }
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  search.focus()
})
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1))
  if (!target?.closest('[hidden]')) return
  clear()
  target.scrollIntoView()
})

for (const pre of document.querySelectorAll('figure pre')) {
  const caption = pre.previousElementSibling
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' })
  button.ariaLabel = `Copy: ${caption.textContent}`
  button.addEventListener('click', async () => {
    button.textContent = (await copy(pre)) ? 'Copied' : 'Selected'
    setTimeout(() => Object.assign(button, { textContent: 'Copy' }), 2000)
  })
  caption.append(button)
}

async function copy(pre) {
  getSelection().selectAllChildren(pre)
  try {
    // Available only over https and on localhost.
    await navigator.clipboard.writeText(pre.textContent)
    return true
  } catch {
    return document.execCommand('copy')
  }
}

// Last, because a browser may refuse the storage.
const storageKey = 'latchkey:docs:language'
for (const input of document.getElementsByName('language')) {
  if (input.value === localStorage.getItem(storageKey)) input.checked = true
  input.addEventListener('change', () => localStorage.setItem(storageKey, input.value))
}
