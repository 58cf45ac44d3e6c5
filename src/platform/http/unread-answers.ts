/** Closes connections whose clients have stopped reading, so that what waits for them is given back. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface UnreadOptions {
  server: Server
  /** For so long a client may leave what was sent unread. */
  seconds: number
  onCutOff(socket: Socket): void
}

interface Progress {
  /** Bytes handed to the system; those that it has not taken yet. They stay the same while the client does not read. */
  dispatched: number
  queued: number
  since: number
}

/** So often within the time limit all connections are looked at. */
const looksPerLimit = 10

/**
 * One look at all connections now and then: socket.setTimeout would be renewed by what the client sends, and costs a
 * timer for each request.
 */
export function cutOffUnread({ server, seconds, onCutOff }: UnreadOptions): { close(): void } {
  const stalled = new Map<Socket, Progress>()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      stalled.delete(socket)
    })
  })

  function look(): void {
    const now = performance.now()
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        stalled.delete(socket)
        continue
      }
      const before = stalled.get(socket)
      const [dispatched, queued] = [socket.bytesWritten - socket.writableLength, queuedBytesOf(socket)]
      if (before?.dispatched !== dispatched || before.queued !== queued) {
        stalled.set(socket, { dispatched, queued, since: now })
      } else if (now - before.since >= seconds * 1000) {
        onCutOff(socket)
        socket.destroy()
      }
    }
  }

  const looking = setInterval(look, (seconds * 1000) / looksPerLimit).unref()
  return { close: () => clearInterval(looking) }
}

/** A long answer is one write, of which the public counters tell only when it is complete. Node's own timeout asks this. */
function queuedBytesOf(socket: Socket): number {
  return (socket as Socket & { _handle?: { writeQueueSize: number } | null })._handle?.writeQueueSize ?? 0
}
