/** Makes links back to a list return to the search and page that the user came from. */
const key = 'list'

export function restoreBackLinks() {
  document.addEventListener('click', ({ target }) => {
    if (target.closest('#results')) sessionStorage.setItem(key, location.pathname + location.search)
  })
  const list = sessionStorage.getItem(key)
  for (const each of document.querySelectorAll('a[data-back]')) {
    if (list?.split('?', 1)[0] === each.pathname) each.href = list
  }
}
