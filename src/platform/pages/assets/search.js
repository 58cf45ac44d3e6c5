/** Searches while somebody types. */
import { showResults } from './results.js'

/** A quick typist's pause. */
const pauseMs = 180

export function searchAsYouType() {
  const form = document.querySelector('form[data-search]')
  if (!form) return
  let timer
  let asked = addressOf(form)

  function ask() {
    clearTimeout(timer)
    asked = addressOf(form)
    // No new entry for each letter: going back leads to where one came from.
    history.replaceState(null, '', asked)
    showResults(asked)
  }

  form.addEventListener('input', ({ target }) => {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        if (addressOf(form) !== asked) ask()
      },
      target.type === 'search' ? pauseMs : 0,
    )
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    ask()
  })
}

function addressOf(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ''))
  return query.size > 0 ? `${form.action}?${query}` : form.action
}
