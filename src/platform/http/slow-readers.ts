/** Disconnects clients that read nothing, or next to nothing, to free the memory of their responses. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface SlowReadersOptions {
  server: Server
  /** How long a client may leave data unread. */
  seconds: number
  onDisconnect(socket: Socket): void
}

/** Half the rate of the slowest mobile networks: a client that reads less holds memory on purpose. */
const minBytesPerSecond = 512

/** Connections are checked this often within the time limit. */
const checksPerLimit = 10

interface Progress {
  /** Bytes flushed to the system when the client had last read enough. */
  flushed: number
  /** Counts checks, not time: a process that was suspended has not waited for its clients. */
  checksSince: number
}

/** Polls all connections: socket.setTimeout would be renewed by incoming data, and costs a timer per request. */
export function disconnectSlowReaders({ server, seconds, onDisconnect }: SlowReadersOptions): { close(): void } {
  const minBytes = minBytesPerSecond * seconds
  const behind = new Map<Socket, Progress>()
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      behind.delete(socket)
    })
  })

  function check(): void {
    for (const socket of sockets) {
      if (socket.writableLength === 0) {
        behind.delete(socket)
        continue
      }
      const progress = behind.get(socket)
      const flushed = bytesFlushed(socket)
      if (!progress || flushed - progress.flushed >= minBytes) behind.set(socket, { flushed, checksSince: 0 })
      else if (++progress.checksSince >= checksPerLimit) {
        onDisconnect(socket)
        socket.destroy()
      }
    }
  }

  const timer = setInterval(check, (seconds * 1000) / checksPerLimit).unref()
  return { close: () => clearInterval(timer) }
}

interface Handle {
  bytesWritten: number
  writeQueueSize: number
}

/**
 * The public counters advance only when a write, such as a long response, completes. Node's own timeouts use the
 * handle.
 */
function bytesFlushed(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { _handle?: Handle | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
