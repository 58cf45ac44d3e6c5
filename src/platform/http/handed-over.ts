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
