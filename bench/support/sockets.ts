/** Many WebSockets that only count the bytes they get, so that the server is what is measured and not the reader. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Readers {
  /** Resolves when every socket has got so many bytes more. */
  expect(bytes: number): Promise<void>
  close(): void
}

const atOnce = 200

/** Opens them to the path, and sends `message` on each. */
export async function openReaders(url: string, count: number, message: string | undefined): Promise<Readers> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  let missing = 0
  let onDone = () => {}

  async function open(): Promise<void> {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.setNoDelay(true)
    socket.write(
      'GET /graphql HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(`no socket: ${answer}`)
    if (message !== undefined) socket.write(frame(message))
    socket.on('data', (part: Buffer) => {
      missing -= part.length
      if (missing === 0) onDone()
    })
    sockets.push(socket)
  }

  for (let i = 0; i < count; i += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - i) }, open))
  }
  return {
    expect: (bytes) =>
      new Promise((resolve) => {
        missing = bytes * sockets.length
        onDone = resolve
      }),
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** A text of under 126 bytes as a client's frame, masked with zeros. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  if (payload.length > 125) throw new Error('too long for a small frame')
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

/** How many bytes a server's frame around a small text takes. */
export function frameBytes(text: string): number {
  return Buffer.byteLength(text) + 2
}
