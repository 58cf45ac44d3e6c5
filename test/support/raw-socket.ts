/** A raw WebSocket that sends bytes, for clients that violate the protocol. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface RawSocket {
  socket: Socket
  /** Everything received after the response to the upgrade. */
  received(): Buffer
  /** The code of the server's close frame, if there was one. */
  closeCode(): number | undefined
  /** Resolves when the connection has ended. */
  closed: Promise<void>
}

export interface RawOptions {
  headers?: Record<string, string>
}

export async function openRaw(t: TestContext, url: string, { headers = {} }: RawOptions = {}): Promise<RawSocket> {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
      `sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${own.join('')}\r\n`,
  )
  const chunks: Buffer[] = []
  const all = () => Buffer.concat(chunks)
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (chunk.includes('\r\n\r\n')) resolve()
    })
    socket.once('close', () => reject(new Error('the connection was closed before the upgrade')))
  })
  assert.match(all().toString('latin1'), /^HTTP\/1\.1 101 /)
  const received = () => {
    const bytes = all()
    return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
  }
  return { socket, received, closed, closeCode: () => closeCodeIn(received()) }
}

export interface FrameOptions {
  /** False for all but the last of a message's frames. */
  isLast?: boolean
  /** 1: text; 0: continuation; 9: ping. */
  opcode?: number
  /** The length in the header, if fewer bytes follow. */
  announced?: number
}

/** A frame as clients send it, masked by zeros. */
export function clientFrame(payload: Buffer | string, options: FrameOptions = {}): Buffer {
  const { isLast = true, opcode = 1, announced = Buffer.byteLength(payload) } = options
  const first = (isLast ? 0x80 : 0) | opcode
  const head = Buffer.alloc(announced < 126 ? 2 : announced < 65_536 ? 4 : 10)
  head[0] = first
  if (announced < 126) head[1] = 0x80 | announced
  else if (announced < 65_536) {
    head[1] = 0x80 | 126
    head.writeUInt16BE(announced, 2)
  } else {
    head[1] = 0x80 | 127
    head.writeBigUInt64BE(BigInt(announced), 2)
  }
  return Buffer.concat([head, Buffer.alloc(4), Buffer.from(payload)])
}

/** Frames of servers are not masked. */
function closeCodeIn(bytes: Buffer): number | undefined {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = (bytes[at + 1] as number) & 0x7f
    const headLength = short === 126 ? 4 : short === 127 ? 10 : 2
    if (at + headLength > bytes.length) return undefined
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short
    if (((bytes[at] as number) & 0x0f) === 8 && at + headLength + 2 <= bytes.length) {
      return bytes.readUInt16BE(at + headLength)
    }
    at += headLength + length
  }
  return undefined
}
