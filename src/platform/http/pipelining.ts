/**
 * Limits how many answers of one connection wait behind another. Node begins every request of a pipeline as soon as it is
 * read, and keeps the answers in memory until it is their turn: a thousand requests for a megabyte each fit into one packet.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { onAnswerEnd } from './answer-end.ts'

/** Few clients pipeline at all; those that do send about ten at once. */
const maxWaiting = 32

/** Returns false where too many answers of the connection wait already. */
export function createPipelineLimit(): (response: ServerResponse) => boolean {
  const waiting = new WeakMap<Socket, number>()
  return (response) => {
    // The answer whose turn it is has the connection: nothing more is to be done for the usual request.
    if (response.socket !== null) return true
    const { socket } = response.req
    const count = waiting.get(socket) ?? 0
    if (count >= maxWaiting) return false
    waiting.set(socket, count + 1)
    onAnswerEnd(response, () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    return true
  }
}
