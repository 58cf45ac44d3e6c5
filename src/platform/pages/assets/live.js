/** Keeps the list of products up to date: rows change in place, and the list moves only while nobody works with it. */
import { followChanges } from './change-socket.js'
import { showState } from './live-state.js'
import { createNews } from './news.js'
import { showResults } from './results.js'
import { updateRows } from './rows.js'

/** The list is fetched at most this often. */
const restMs = 2000
const gatherMs = 250
const unreachableMs = 5000
/** A pointer that has not moved for so long is not about to click. */
const pointedMs = 2500

export function followProducts() {
  if (!document.querySelector('#results[data-cursor]')) return
  const news = createNews()
  /** The last cursor. Undefined: that of the rows is newer. */
  let received
  let receivedAt = 0
  /** Changes that are not shown yet, by id. */
  const changes = new Map()
  /** There were more than are listed. */
  let isCut = false
  /** The list has to be loaded as soon as nobody works with it. */
  let isDue = false
  let isOver = false
  let timer
  let shownAt = -restMs
  let pointedAt = -pointedMs

  function receive(message) {
    received = message.cursor
    receivedAt = performance.now()
    for (const change of message.changes) {
      // Otherwise the row was read after it.
      if (isShown(change)) continue
      changes.set(change.id, { ...change, receivedAt })
      if (resultsOf(document).dataset.list !== 'found') news.add(change)
    }
    isCut ||= message.isCut
    if (changes.size > 0 || isCut) schedule()
  }

  function schedule(waitMs = gatherMs) {
    if (!isOver) timer ??= setTimeout(show, Math.max(waitMs, shownAt + restMs - performance.now()))
  }

  async function show() {
    timer = undefined
    shownAt = performance.now()
    const results = resultsOf(document)
    const taken = new Map(changes)
    const pending = { types: new Map([...changes].map(([id, { type }]) => [id, type])), isCut }
    if (!isDue && !concerns(results, pending)) return
    changes.clear()
    isCut = false
    isDue = false
    const isRead = isBeingRead(results)
    const isPointed = performance.now() - pointedAt < pointedMs
    if (!isRead && !isPointed) return showAll(pending)
    const found = await updateRows(results, pending)
    if (!found) return putBack(taken, pending)
    news.count(found)
    if (isRead) return news.show()
    // The rest is shown as soon as the pointer rests.
    isDue = true
    schedule(pointedMs)
  }

  /** The service is unreachable. */
  function putBack(taken, pending) {
    for (const [id, change] of taken) if (!changes.has(id)) changes.set(id, change)
    isCut ||= pending.isCut
    schedule(unreachableMs)
  }

  async function showAll({ types }) {
    const known = new Set(idsIn(document))
    if (!(await showResults(location.href))) return
    for (const row of document.querySelectorAll('#results [data-id]')) {
      row.classList.toggle('fresh', !known.has(row.dataset.id) || types.has(row.dataset.id))
    }
  }

  /** The rows are others now, whether by this script or by a search. They were read after they were asked for. */
  function forgetShown({ detail: { askedAt } }) {
    if (receivedAt < askedAt) received = undefined
    for (const [id, change] of changes) if (change.receivedAt < askedAt || isShown(change)) changes.delete(id)
    news.clear(resultsOf(document).dataset.list === 'found' ? [] : [...changes.values()])
  }

  /** Nobody reads any more: the list shows what it has only told. */
  function catchUp() {
    if (isOver || !news.isShown() || isBeingRead(resultsOf(document))) return
    isDue = true
    schedule(pointedMs)
  }

  function notePointer({ target }) {
    if (target.closest?.('#results, #news')) pointedAt = performance.now()
  }

  document.addEventListener('resultsshown', forgetShown)
  for (const name of ['pointermove', 'pointerdown']) document.addEventListener(name, notePointer)
  for (const name of ['focusout', 'scrollend', 'selectionchange']) document.addEventListener(name, catchUp)
  followChanges({
    position: () => received ?? resultsOf(document).dataset.cursor,
    onChanges: receive,
    onState: showState,
    onExpired() {
      received = undefined
      return showResults(location.href)
    },
    onSignedOut() {
      isOver = true
      clearTimeout(timer)
      const next = encodeURIComponent(location.pathname + location.search)
      news.say('You are signed out.', { address: `/console/sign-in?next=${next}`, name: 'Sign in' })
    },
  })
}

/** Whether the list has the product as it is after the change. Cursors are opaque, so they cannot tell. */
function isShown({ id, version }) {
  const row = document.querySelector(`#results [data-id="${id}"]`)
  return row !== null && Number(row.dataset.version) >= version
}

/** Whether the list may have to change. The newest products are in the order of their creation, so edits move none. */
function concerns(results, { types, isCut }) {
  if (isCut || results.dataset.list !== 'newest') return isCut || types.size > 0
  const shown = new Set(idsIn(results))
  return [...types].some(([id, type]) => type !== 'product.updated' || shown.has(id))
}

/**
 * Rows must not move while the keyboard is among them, while text is marked, after somebody has scrolled down to them, or
 * while some are selected or edited.
 */
function isBeingRead(results) {
  const selection = getSelection()
  return (
    results.dataset.list === 'later' ||
    document.activeElement.closest('#results, #news') !== null ||
    results.querySelector('input[name="pick"]:checked, tr[data-edited]') !== null ||
    (!selection.isCollapsed && results.contains(selection.anchorNode)) ||
    results.getBoundingClientRect().top < 0
  )
}

function resultsOf(page) {
  return page.getElementById('results')
}

function idsIn(root) {
  return [...root.querySelectorAll('[data-id]')].map(({ dataset }) => dataset.id)
}
