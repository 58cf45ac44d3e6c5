/** Thousands of subscribers that do no more than count bytes. */
import { connect, type Socket } from 'node:net'

/** So that every value has as many digits. */
export const firstCount = 1_000_000

/** Of the process, after garbage is collected where that can be asked for. */
export function memoryNow(): { heap: number; resident: number } {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

export interface Subscribers {
  /** Resolves when all of them together have got so many bytes since it was called. */
  receive(bytes: number): Promise<void>
  close(): void
}

/** `message` is sent by each, if any is given. */
export async function openSubscribers(url: string, count: number, message: string): Promise<Subscribers> {
  const sockets: Socket[] = []
  let received = 0
  let expected = Number.POSITIVE_INFINITY
  let onDone = () => {}
  const onData = (chunk: Buffer) => {
    received += chunk.length
    if (received >= expected) onDone()
  }
  // A hundred at a time: the queue of connections not yet accepted is short.
  while (sockets.length < count) {
    const missing = Math.min(100, count - sockets.length)
    sockets.push(...(await Promise.all(Array.from({ length: missing }, () => openSubscriber(url, message)))))
  }
  for (const socket of sockets) socket.on('data', onData)
  return {
    receive(bytes) {
      received = 0
      expected = bytes
      return new Promise((resolve) => {
        onDone = resolve
      })
    },
    close: () => sockets.forEach((socket) => void socket.destroy()),
  }
}

function openSubscriber(url: string, message: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay()
    socket.once('error', reject)
    socket.once('data', () => {
      socket.off('error', reject).on('error', () => {})
      socket.write(frameOf(message))
      resolve(socket)
    })
    const key = Buffer.alloc(16).toString('base64')
    socket.write(
      `GET /graphql HTTP/1.1\r\nhost: ${hostname}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    )
  })
}

/** A client's frame, masked with zeros. */
function frameOf(message: string): Buffer {
  const length = Buffer.byteLength(message)
  return Buffer.concat([Buffer.from([0x81, 0x80 | length, 0, 0, 0, 0]), Buffer.from(message)])
}
