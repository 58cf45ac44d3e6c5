import type { ServerResponse } from 'node:http'

/** Each pipelined response adds a listener to the connection. */
const maxListeners = 100

/**
 * Calls `done` once, when the response has been sent or the client has disconnected. Listens to the connection too: a
 * pipelined response that is still queued emits nothing when the connection closes.
 */
export function onResponseEnd(response: ServerResponse, done: () => void): void {
  const { socket } = response.req
  if (response.closed || response.destroyed || socket.destroyed) {
    done()
    return
  }
  let hasEnded = false
  const end = () => {
    response.off('close', end)
    socket.off('close', end)
    // When the connection closes, the second listener may be called although the first has removed it.
    if (!hasEnded) done()
    hasEnded = true
  }
  if (socket.getMaxListeners() < maxListeners) socket.setMaxListeners(maxListeners)
  response.once('close', end)
  socket.once('close', end)
}
