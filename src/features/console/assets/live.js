/** Products that are created elsewhere appear by themselves, by a subscription over the console's own socket. */
import { showResults } from './results.js'

const subscription = 'subscription { productCreated { id } }'
const forbidden = 4403
const firstRetryMs = 1000
const lastRetryMs = 30_000
/** However many are created, the list is fetched no more often. */
const restMs = 2000
const gatherMs = 250

export function followProducts() {
  if (!document.getElementById('results')) return
  let socket
  let retryMs = firstRetryMs
  let wasLost = false
  let count = 0
  let isScheduled = false
  let shownAt = -restMs

  function connect() {
    socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/console/live`)
    socket.onopen = () => {
      retryMs = firstRetryMs
      socket.send(JSON.stringify({ query: subscription }))
      // What happened meanwhile was not heard.
      if (wasLost) schedule()
      wasLost = false
    }
    socket.onmessage = ({ data }) => {
      if (!JSON.parse(data).data) return
      count += 1
      schedule()
    }
    socket.onclose = ({ code }) => {
      socket = undefined
      if (code === forbidden) {
        const next = encodeURIComponent(location.pathname + location.search)
        showNews('You are signed out.', `/console/sign-in?next=${next}`, 'Sign in')
        return
      }
      wasLost = true
      setTimeout(connect, retryMs * (0.5 + Math.random()))
      retryMs = Math.min(retryMs * 2, lastRetryMs)
    }
  }

  function schedule() {
    if (isScheduled) return
    isScheduled = true
    setTimeout(show, Math.max(gatherMs, shownAt + restMs - performance.now()))
  }

  async function show() {
    isScheduled = false
    shownAt = performance.now()
    const results = document.getElementById('results')
    // Nothing moves under the hands of somebody who is on it.
    if (results.dataset.live === undefined || results.contains(document.activeElement)) {
      const text = count === 1 ? '1 new product.' : `${count} new products.`
      if (count > 0) showNews(text, '/console/products', 'Show the newest')
      return
    }
    const known = new Set(idsIn(results))
    if (!(await showResults(location.href))) return
    count = 0
    document.getElementById('news').hidden = true
    const rows = document.querySelectorAll('#results [data-id]')
    for (const row of rows) row.classList.toggle('fresh', !known.has(row.dataset.id))
  }

  connect()
}

function idsIn(results) {
  return [...results.querySelectorAll('[data-id]')].map(({ dataset }) => dataset.id)
}

function showNews(text, address, name) {
  const link = document.createElement('a')
  link.href = address
  link.textContent = name
  const news = document.getElementById('news')
  news.replaceChildren(`${text} `, link)
  news.hidden = false
}
