/** Connections that another thread of the process has accepted. */
import { type Server, Socket } from 'node:net'

/** The number of the listening socket, which all threads of a process have in common. -1 if there is none. */
export function descriptorOf(server: Server): number {
  const { _handle: handle } = server as Server & { _handle?: { fd: number } | null }
  return handle?.fd ?? -1
}

/** Serves a connection as if the server had accepted it. */
export function adoptConnection(server: Server, descriptor: number): void {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true, allowHalfOpen: true })
  if (!server.listening) return void socket.destroy()
  socket.setNoDelay(true)
  server.emit('connection', socket)
}

/**
 * Who closes the descriptor: the first to call `own`. A thread may die before it has read that it was given one, or after it
 * has served the connection, and by then the number may be another file's.
 */
export type Ownership = SharedArrayBuffer

export const offer = (): Ownership => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
export const own = (ownership: Ownership): boolean => Atomics.exchange(new Int32Array(ownership), 0, 1) === 0
export const hasOwner = (ownership: Ownership): boolean => Atomics.load(new Int32Array(ownership), 0) === 1
