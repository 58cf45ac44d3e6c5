/** Closes connections whose clients read nothing, or next to nothing, so that what waits for them is given back. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface UnreadOptions {
  server: Server
  /** For so long a client may leave what was sent unread. */
  seconds: number
  onCutOff(socket: Socket): void
}

/** Half of what the slowest mobile networks carry. Whoever reads less, while more waits, holds our memory on purpose. */
const minBytesPerSecond = 512

/** So often within the time limit all connections are looked at. */
const looksPerLimit = 10

interface Progress {
  /** Bytes that the system had taken when the client had last read enough. */
  taken: number
  /** Not the time: who does not run for a while, as a process that was stopped, has not waited for anybody. */
  looksSince: number
}

/**
 * One look at all connections now and then: socket.setTimeout would be renewed by what the client sends, and costs a
 * timer for each request.
 */
export function cutOffUnread({ server, seconds, onCutOff }: UnreadOptions): { close(): void } {
  const minBytes = minBytesPerSecond * seconds
  const waiting = new Map<Socket, Progress>()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      waiting.delete(socket)
    })
  })

  function look(): void {
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        waiting.delete(socket)
        continue
      }
      const progress = waiting.get(socket)
      const taken = bytesTaken(socket)
      if (!progress || taken - progress.taken >= minBytes) waiting.set(socket, { taken, looksSince: 0 })
      else if (++progress.looksSince >= looksPerLimit) {
        onCutOff(socket)
        socket.destroy()
      }
    }
  }

  const looking = setInterval(look, (seconds * 1000) / looksPerLimit).unref()
  return { close: () => clearInterval(looking) }
}

interface Handle {
  bytesWritten: number
  writeQueueSize: number
}

/** A long answer is one write, of which the public counters tell only when it is complete. Node's own timeout asks this. */
function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: Handle | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
