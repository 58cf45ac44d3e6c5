/**
 * Follows the change log from a cursor, so that nothing is missed between two connections.
 *
 * By WebSocket, not by server-sent events: over HTTP/1.1 a browser opens six connections to a host, for all of its tabs.
 * With six lists open, no page would load any more. Sockets are counted separately, and there may be hundreds. A tab that
 * nobody looks at lets go of its socket anyway, and goes on from its cursor when it is shown again.
 */
const subscription = `subscription ($after: String!) {
  changedProducts(after: $after) { cursor changes { id type version } isCut }
}`
const forbidden = 4403
const firstRetryMs = 1000
const lastRetryMs = 30_000
const hiddenMs = 60_000
/** A connection that was cut without a word, as by a laptop that slept, is noticed by asking. */
const askAfterMs = 30_000
const lostAfterMs = 45_000

/**
 * `position` returns the cursor. `onState` is called with "live", "reconnecting", or "off" if that takes long.
 * `onExpired` has to find another cursor; it returns whether it did.
 */
export function followChanges({ position, onChanges, onState, onExpired, onSignedOut }) {
  let socket
  let retryMs = firstRetryMs
  let timer
  let subscriptionId = 0
  /** With another cursor, which was not accepted yet. */
  let isRestarted = false
  let heardAt = 0
  let isOver = false

  function connect() {
    clearTimeout(timer)
    const own = new WebSocket(`${location.origin.replace('http', 'ws')}/console/live`)
    socket = own
    isRestarted = false
    heardAt = performance.now()
    own.onopen = subscribe
    own.onmessage = ({ data }) => own === socket && receive(JSON.parse(data))
    own.onclose = ({ code }) => own === socket && lose(code)
  }

  function subscribe() {
    subscriptionId += 1
    socket.send(JSON.stringify({ id: subscriptionId, query: subscription, variables: { after: position() } }))
  }

  function receive({ id, data, errors }) {
    heardAt = performance.now()
    if (id !== subscriptionId) return
    if (data) {
      retryMs = firstRetryMs
      isRestarted = false
      onState('live')
      onChanges(data.changedProducts)
    } else if (errors?.[0].extensions?.code === 'GONE' && !isRestarted) restart(socket)
    // The service stops, or something is wrong with it.
    else socket.close()
  }

  async function restart(own) {
    // What else comes for the subscription that has ended is not for the next.
    subscriptionId += 1
    isRestarted = true
    const isFound = await onExpired()
    if (own !== socket) return
    if (isFound) subscribe()
    else own.close()
  }

  function lose(code) {
    socket = undefined
    if (code === forbidden) {
      isOver = true
      onState('off')
      onSignedOut()
      return
    }
    onState(retryMs < lastRetryMs ? 'reconnecting' : 'off')
    timer = setTimeout(connect, retryMs * (0.5 + Math.random()))
    retryMs = Math.min(retryMs * 2, lastRetryMs)
  }

  /** Without waiting for an answer, which may never come. */
  function drop() {
    const own = socket
    socket = undefined
    own?.close()
  }

  function look() {
    if (!socket || socket.readyState !== WebSocket.OPEN) return
    const silentMs = performance.now() - heardAt
    if (silentMs > lostAfterMs) {
      drop()
      lose()
    } else if (silentMs > askAfterMs) socket.send(JSON.stringify({ id: 'alive', query: '{ __typename }' }))
  }

  function connectNow() {
    if (isOver || socket) return
    onState('reconnecting')
    retryMs = firstRetryMs
    connect()
  }

  let hiding
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding)
    if (!document.hidden) return connectNow()
    hiding = setTimeout(() => {
      clearTimeout(timer)
      drop()
    }, hiddenMs)
  })
  addEventListener('online', connectNow)
  setInterval(look, 10_000)
  connect()
}
