/** Thousands of subscribers that only count bytes. */
import type { Socket } from 'node:net'
import { clientFrame } from '../../test/support/raw-socket.ts'
import { openRawSocket } from './raw-socket.ts'

/** High enough that all values have the same number of digits. */
export const firstCount = 1_000_000

/** Memory of the process, after a garbage collection if --expose-gc is set. */
export function memoryNow(): { heap: number; resident: number } {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

export interface Subscribers {
  /** Resolves when all sockets together have received this many bytes since the call. */
  receive(bytes: number): Promise<void>
  close(): void
}

/** Each socket sends `message`, if given. */
export async function openSubscribers(url: string, count: number, message: string): Promise<Subscribers> {
  const sockets: Socket[] = []
  let received = 0
  let expected = Number.POSITIVE_INFINITY
  let onDone = () => {}
  const onData = (chunk: Buffer) => {
    received += chunk.length
    if (received >= expected) onDone()
  }
  // A hundred at a time: the accept queue is short.
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

async function openSubscriber(url: string, message: string): Promise<Socket> {
  const socket = await openRawSocket(url)
  socket.write(clientFrame(message))
  return socket
}
