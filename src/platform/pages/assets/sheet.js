/** A dialog above the page. It closes with Escape, by its backdrop, and gives the focus back, as the browser does. */
export function createSheet({ className = '', label }) {
  const sheet = document.createElement('dialog')
  sheet.className = `sheet ${className}`
  sheet.setAttribute('aria-label', label)
  sheet.addEventListener('click', ({ target }) => {
    if (target === sheet) sheet.close()
  })
  sheet.addEventListener('close', () => sheet.remove())
  document.body.append(sheet)
  sheet.showModal()
  return sheet
}

/** Loads a part of another page. Returns undefined if the page cannot be loaded. */
export async function loadPart(address, id, signal) {
  const response = await fetch(address, { signal }).catch(() => undefined)
  if (!response?.ok || response.redirected) return undefined
  return new DOMParser().parseFromString(await response.text(), 'text/html').getElementById(id) ?? undefined
}
