/** Selecting rows: a box for the whole page, and how many are selected. See components/row-picks.ts. */
const boxes = () => [...document.querySelectorAll('input[name="pick"]')]

function show() {
  const all = document.querySelector('[data-pick-all]')
  const status = document.querySelector('[data-picked]')
  if (!all || !status) return
  const picked = boxes().filter(({ checked }) => checked).length
  all.checked = picked > 0 && picked === boxes().length
  all.indeterminate = picked > 0 && !all.checked
  status.textContent = picked === 0 ? 'Nothing selected' : `${picked} selected`
}

/** Only for browsers without scripts: loaded again, the page would select what was unselected meanwhile. */
function forgetAddress() {
  const address = new URL(location.href)
  if (!address.searchParams.has('select')) return
  address.searchParams.delete('select')
  history.replaceState(null, '', address)
}

document.addEventListener('change', ({ target }) => {
  if (target.matches('[data-pick-all]')) for (const box of boxes()) box.checked = target.checked
  if (target.matches('[data-pick-all], input[name="pick"]')) show()
})
document.addEventListener('click', (event) => {
  if (!event.target.matches?.('[data-pick-link]')) return
  event.preventDefault()
  for (const box of boxes()) box.checked = true
  show()
})
document.addEventListener('resultsshown', show)
addEventListener('pageshow', show)
forgetAddress()
show()
