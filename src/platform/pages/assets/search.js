/** Searches while the user types. */
import { showResults } from './results.js'

/** Debounce. */
const pauseMs = 180

export function searchAsYouType() {
  const form = document.querySelector('form[data-search]')
  if (!form) return
  let timer
  let searched = addressOf(form)

  function search() {
    clearTimeout(timer)
    searched = addressOf(form)
    // No history entry per letter: "back" returns to the previous page.
    history.replaceState(null, '', searched)
    showResults(searched)
  }

  form.addEventListener('input', ({ target }) => {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        if (addressOf(form) !== searched) search()
      },
      target.tagName === 'INPUT' ? pauseMs : 0,
    )
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    search()
  })
}

function addressOf(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ''))
  return query.size > 0 ? `${form.action}?${query}` : form.action
}
