/** The part of a list that changes. It is taken out of the whole page, so there is one way to draw it. */
let latest = 0

/** Answers whether it is shown: an answer that a later one has overtaken is not. */
export async function showResults(address) {
  latest += 1
  const own = latest
  const shown = document.getElementById('results')
  shown.setAttribute('aria-busy', 'true')
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    if (own !== latest) return false
    const fresh = page.getElementById('results')
    if (fresh) {
      shown.replaceWith(document.adoptNode(fresh))
      tell('count', page.getElementById('count').textContent)
      return true
    }
    // Signed out, or too much to do: the page itself says so.
    location.assign(address)
  } catch {
    // Out of reach. What is shown stays, and the button still works.
    if (own === latest) shown.removeAttribute('aria-busy')
  }
  return false
}

/** Screen readers speak what changes there, so what stays the same is left alone. */
function tell(id, text) {
  const place = document.getElementById(id)
  if (place.textContent !== text) place.textContent = text
}
