/**
 * Limits the queued responses of one connection. Node starts every pipelined request as soon as it is read, and buffers
 * the responses until they can be sent in order: one packet can hold a thousand requests for a megabyte each.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onResponseEnd } from './response-end.ts'

/** Few clients pipeline at all; those that do send about ten requests at once. */
const maxQueued = 32

/** Returns false if too many responses of the connection are queued. */
export function createPipelineLimit(): (response: ServerResponse) => boolean {
  const queued = new WeakMap<Socket, number>()
  return (response) => {
    // Not pipelined: only the response at the head of the queue has a socket.
    if (response.socket !== null) return true
    const { socket } = response.req
    const count = queued.get(socket) ?? 0
    if (count >= maxQueued) return false
    queued.set(socket, count + 1)
    onResponseEnd(response, () => queued.set(socket, (queued.get(socket) ?? 1) - 1))
    return true
  }
}
