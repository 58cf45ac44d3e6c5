/** A WebSocket without a library: cheap enough for thousands, and free to violate the protocol. */
import { connect, type Socket } from 'node:net'

/** Resolves once the service has answered the upgrade. Rejects where it cannot be reached. */
export function openRawSocket(url: string, headers: Record<string, string> = {}): Promise<Socket> {
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
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `GET /graphql HTTP/1.1\r\nhost: ${hostname}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n${more.join('')}\r\n`,
    )
  })
}
