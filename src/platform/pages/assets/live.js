/** Shows product changes live, by a subscription on the console's WebSocket. */
import { showResults } from './results.js'
import { updateRows } from './rows.js'

const subscription = 'subscription { changedProducts { changes { id kind } isCut } }'
const forbidden = 4403
const firstRetryMs = 1000
const lastRetryMs = 30_000
/** The list is fetched at most this often. */
const restMs = 2000
const gatherMs = 250

export function followProducts() {
  if (!document.getElementById('results')) return
  let retryMs = firstRetryMs
  let isOpen = false
  let wasLost = false
  /** Counts since the list was last shown. */
  let created = 0
  let deleted = 0
  let moved = 0
  /** Kinds of changes that are not shown yet, by id. */
  let changes = new Map()
  let isCut = false
  let isScheduled = false
  let shownAt = -restMs

  function connect() {
    const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/console/live`)
    socket.onopen = () => {
      retryMs = firstRetryMs
      isOpen = true
      socket.send(JSON.stringify({ query: subscription }))
      // Changes may have been missed.
      if (wasLost) schedule()
      wasLost = false
    }
    socket.onmessage = ({ data }) => {
      const received = JSON.parse(data).data?.changedProducts
      if (!received) return
      for (const { id, kind } of received.changes) {
        if (kind === 'created') created += 1
        if (kind === 'restored') moved += 1
        changes.set(id, kind)
      }
      isCut ||= received.isCut
      schedule()
    }
    socket.onclose = ({ code }) => {
      if (code === forbidden) {
        const next = encodeURIComponent(location.pathname + location.search)
        showNews('You are signed out.', `/console/sign-in?next=${next}`, 'Sign in')
        return
      }
      // If the service is unreachable, loading the list shows that.
      if (isOpen) schedule()
      isOpen = false
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
    const pending = { changes, isCut }
    changes = new Map()
    isCut = false
    // Rows must not move while the keyboard focus is in the list.
    if (results.dataset.live === undefined || results.contains(document.activeElement)) {
      const found = await updateRows(results, pending)
      deleted += found.deleted
      moved += found.moved + (pending.isCut ? 1 : 0)
      summariseNews()
      return
    }
    const known = new Set(idsIn(results))
    if (!(await showResults(location.href))) return
    created = 0
    deleted = 0
    moved = 0
    document.getElementById('news').hidden = true
    for (const row of document.querySelectorAll('#results [data-id]')) {
      row.classList.toggle('fresh', !known.has(row.dataset.id) || pending.changes.has(row.dataset.id))
    }
  }

  function summariseNews() {
    const texts = [
      created > 0 && (created === 1 ? '1 new product.' : `${created} new products.`),
      deleted > 0 &&
        (deleted === 1 ? '1 product of this list is deleted.' : `${deleted} products of this list are deleted.`),
      moved > 0 && 'The list has changed.',
    ].filter(Boolean)
    if (texts.length === 0) return
    if (deleted + moved > 0) showNews(texts.join(' '), location.pathname + location.search, 'Show it as it is now')
    else showNews(texts.join(' '), '/console/products', 'Show the newest')
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
