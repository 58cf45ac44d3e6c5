/** Shortcuts of single keys, which can be turned off on the sheet that lists them. They do nothing while somebody types. */
import { createSheet, loadPart } from './sheet.js'

const storageKey = 'single-keys'
/** For the second key, after G. */
const secondKeyMs = 1500

export function listenForShortcuts() {
  if (!document.querySelector('.side')) return
  offerChoice(document)
  let waitsUntil = 0
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return
    if (!isOn() || document.querySelector('dialog[open]')) return
    const key = event.key.toLowerCase()
    const isSecond = performance.now() < waitsUntil
    waitsUntil = 0
    if (isSecond)
      return follow(
        event,
        [...document.querySelectorAll('a[data-key]')].find(({ dataset }) => dataset.key === key),
      )
    if (key === 'g') waitsUntil = performance.now() + secondKeyMs
    if (key === '?') {
      event.preventDefault()
      openSheet()
    }
    if (key === '/') focus(event, document.querySelector('main input[type=search]'))
    if (key === 'n') follow(event, document.querySelector('main a[data-new]'))
  })
}

function isTyping({ target }) {
  return target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null
}

function follow(event, link) {
  if (!link) return
  event.preventDefault()
  link.click()
}

function focus(event, field) {
  if (!field) return
  event.preventDefault()
  field.focus()
  field.select()
}

async function openSheet() {
  const sheet = createSheet({ label: 'Keyboard shortcuts' })
  const part = await loadPart('/console/shortcuts', 'shortcuts')
  if (!part) return sheet.close()
  sheet.innerHTML =
    '<div class="row"><h2>Keyboard shortcuts</h2><button type="button" class="quiet end">Close</button></div>'
  sheet.append(part)
  const close = sheet.querySelector('button')
  close.addEventListener('click', () => sheet.close())
  close.focus()
  offerChoice(sheet)
}

function offerChoice(root) {
  const label = root.querySelector('[data-single-keys]')
  if (!label) return
  const box = label.querySelector('input')
  label.hidden = false
  box.checked = isOn()
  box.addEventListener('change', () => localStorage.setItem(storageKey, box.checked ? 'on' : 'off'))
}

function isOn() {
  return localStorage.getItem(storageKey) !== 'off'
}
