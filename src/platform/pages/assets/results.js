/** The part of a list that changes. It is taken out of the whole page, so there is one way to draw it. */
import { writeTimes } from './times.js'

const maxWaitMs = 10_000
const firstRetryMs = 1000
const lastRetryMs = 15_000

let latest = 0
let underWay = new AbortController()
/** What the rows belong to. */
let shownAddress = location.href
/** What could not be had. */
let wantedAddress
let retryMs = firstRetryMs
let retry

/** Answers whether it is shown: an answer that a later one has overtaken is not. Without a connection it tries on. */
export async function showResults(address) {
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
    // Signed out, for one: the page itself says so.
    location.assign(address)
    return false
  }
  document.getElementById('results').replaceWith(document.adoptNode(fresh))
  writeTimes(fresh)
  shownAddress = address
  retryMs = firstRetryMs
  tell('count', page.getElementById('count').textContent)
  tell('connection', '')
  return true
}

/** The page at an address, or undefined where it is out of reach. */
export async function load(address, signal) {
  try {
    const signals = [AbortSignal.timeout(maxWaitMs), ...(signal ? [signal] : [])]
    const answer = await fetch(address, { headers: { accept: 'text/html' }, signal: AbortSignal.any(signals) })
    if (answer.status >= 500 || answer.status === 429) return undefined
    return new DOMParser().parseFromString(await answer.text(), 'text/html')
  } catch {
    return undefined
  }
}

/** Screen readers speak what changes there, so what stays the same is left alone. */
export function tell(id, text) {
  const place = document.getElementById(id)
  if (place.textContent !== text) place.textContent = text
}

/** Rows of another search would be taken for the answer to this one. Rows that are only old are marked. */
function lose(address) {
  const results = document.getElementById('results')
  const isOther = address !== shownAddress
  results.hidden = isOther
  results.classList.add('stale')
  tell('count', '')
  tell(
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
