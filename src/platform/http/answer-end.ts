import type { ServerResponse } from 'node:http'

/** Pipelined answers wait on one connection, each with a listener. */
const maxListeners = 100

/**
 * Calls `done` once, when the client has got the answer or is gone. Listens to the connection too: an answer that waits
 * behind another one is told nothing when the connection ends.
 */
export function onAnswerEnd(response: ServerResponse, done: () => void): void {
  const { socket } = response.req
  if (response.closed || response.destroyed || socket.destroyed) {
    done()
    return
  }
  let hasEnded = false
  const end = () => {
    response.off('close', end)
    socket.off('close', end)
    // The end of the connection reaches both listeners: the first one removes the second too late.
    if (!hasEnded) done()
    hasEnded = true
  }
  if (socket.getMaxListeners() < maxListeners) socket.setMaxListeners(maxListeners)
  response.once('close', end)
  socket.once('close', end)
}
