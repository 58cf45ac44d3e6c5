/** A WebSocket without a library: cheap enough for thousands, and free to violate the protocol. */
import { connect, type Socket } from 'node:net'

/** Resolves once the upgrade has a response. Rejects if the service is unreachable. */
export function openRawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay()
    socket.once('error', reject)
    socket.once('data', () => {
      socket.off('error', reject).on('error', () => {})
      resolve(socket)
    })
    const key = Buffer.alloc(16).toString('base64')
    socket.write(
      `GET /graphql HTTP/1.1\r\nhost: ${hostname}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    )
  })
}
