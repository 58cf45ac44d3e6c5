/** Reloads the results of a list. They are taken from the whole page, so that only the server renders them. */
import { writeTimes } from './times.js'

const maxWaitMs = 10_000
const firstRetryMs = 1000
const lastRetryMs = 15_000

let latest = 0
let underWay = new AbortController()
/** The URL of the rows on the page. */
let shownAddress = location.href
/** The URL that could not be loaded. */
let wantedAddress
let retryMs = firstRetryMs
let retry

/** Returns whether the results are shown; those overtaken by a later call are not. Retries without a connection. */
export async function showResults(address) {
  const askedAt = performance.now()
  latest += 1
  const own = latest
  clearTimeout(retry)
  removeEventListener('online', tryAgain)
  underWay.abort()
  underWay = new AbortController()
  document.getElementById('results').setAttribute('aria-busy', 'true')
  const page = await load(address, underWay.signal)
  if (own !== latest) return false
  document.getElementById('results').removeAttribute('aria-busy')
  if (!page) {
    lose(address)
    return false
  }
  const fresh = page.getElementById('results')
  if (!fresh) {
    // Another page, such as the sign-in form after a sign-out.
    location.assign(address)
    return false
  }
  replaceResults(document.adoptNode(fresh))
  writeTimes(fresh)
  shownAddress = address
  retryMs = firstRetryMs
  announce('count', page.getElementById('count').textContent)
  announce('connection', '')
  document.dispatchEvent(new CustomEvent('resultsshown', { detail: { askedAt } }))
  return true
}

/** Whoever has moved to a link of the list meanwhile stays there. */
function replaceResults(fresh) {
  const results = document.getElementById('results')
  const address = results.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
  results.replaceWith(fresh)
  if (address === null) return
  const links = [...fresh.querySelectorAll('a')]
  links.find((link) => link.getAttribute('href') === address)?.focus({ preventScroll: true })
}

/** Returns undefined if the service is unreachable or overloaded. */
export async function load(address, signal) {
  try {
    const signals = [AbortSignal.timeout(maxWaitMs), ...(signal ? [signal] : [])]
    const response = await fetch(address, { headers: { accept: 'text/html' }, signal: AbortSignal.any(signals) })
    if (response.status >= 500 || response.status === 429) return undefined
    return new DOMParser().parseFromString(await response.text(), 'text/html')
  } catch {
    return undefined
  }
}

/** Sets the text of a live region. Unchanged text is left alone, because screen readers announce every change. */
export function announce(id, text) {
  const place = document.getElementById(id)
  if (place.textContent !== text) place.textContent = text
}

/** Hides the rows of another search, which would be taken for results of this one. Outdated rows are only marked. */
function lose(address) {
  const results = document.getElementById('results')
  const isOther = address !== shownAddress
  results.hidden = isOther
  results.classList.add('stale')
  announce('count', '')
  announce(
    'connection',
    isOther
      ? 'No connection. What you look for is shown as soon as it is back.'
      : 'No connection. These rows may be out of date. They are loaded anew as soon as it is back.',
  )
  wantedAddress = address
  retry = setTimeout(tryAgain, retryMs * (0.5 + Math.random()))
  retryMs = Math.min(retryMs * 2, lastRetryMs)
  addEventListener('online', tryAgain)
}

function tryAgain() {
  showResults(wantedAddress)
}
