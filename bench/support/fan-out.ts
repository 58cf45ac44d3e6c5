/** Thousands of subscribers that only count bytes. */
import type { Socket } from 'node:net'
import { clientFrame } from '../../test/support/raw-socket.ts'
import { openRawSocket } from './raw-socket.ts'

export const counterQuery = 'subscription { counter { count } }'

/** So that every value has as many digits. */
export const firstCount = 1_000_000

export const protocols = ['plain-json', 'graphql-transport-ws'] as const
export type ProtocolName = (typeof protocols)[number]

/** A value as a protocol writes it. */
export function messageOf(protocol: ProtocolName, count: number): string {
  const payload = { data: { counter: { count } } }
  return JSON.stringify(protocol === 'plain-json' ? payload : { id: '1', type: 'next', payload })
}

/** What the servers tell at these paths. */
export interface States {
  '/state': { subscribers: number; cpuSeconds: number }
  '/memory': { heap: number }
}

/** Of the process since its start, with all of its threads. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** In bytes, after garbage is collected where that can be asked for. */
export function heapNow(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export interface Subscribers {
  /** Resolves when all sockets together have received this many bytes since the call. */
  receive(bytes: number): Promise<void>
  close(): void
}

export interface SubscribersOptions {
  count: number
  protocol: ProtocolName
}

const pong = clientFrame('', { opcode: 10 })
/** The first byte of a ping. In a value, which is ASCII, there is no such byte. */
const pingByte = 0x89

export async function openSubscribers(url: string, { count, protocol }: SubscribersOptions): Promise<Subscribers> {
  const sockets: Socket[] = []
  let received = 0
  let expected = Number.POSITIVE_INFINITY
  let onDone = () => {}
  let onFailed = (error: Error): void => {
    throw error
  }
  function onData(this: Socket, chunk: Buffer): void {
    if (chunk.includes(pingByte)) this.write(pong)
    received += chunk.length
    if (received >= expected) onDone()
  }
  const onClose = () => onFailed(new Error(`${url} has closed a socket of a subscriber`))
  const open = protocol === 'plain-json' ? openPlain : openTransport
  // Few at a time: the queue of connections not yet accepted is short, and so is the time to introduce oneself.
  while (sockets.length < count) {
    const missing = Math.min(50, count - sockets.length)
    const opened = await Promise.all(Array.from({ length: missing }, () => open(url)))
    for (const socket of opened) sockets.push(socket.on('data', onData).on('close', onClose))
  }
  return {
    receive(bytes) {
      received = 0
      expected = bytes
      return new Promise((resolve, reject) => {
        onDone = resolve
        onFailed = reject
      })
    },
    close: () => sockets.forEach((socket) => void socket.off('close', onClose).destroy()),
  }
}

async function openPlain(url: string): Promise<Socket> {
  const socket = await openRawSocket(url)
  socket.write(clientFrame(JSON.stringify({ query: counterQuery })))
  return socket
}

async function openTransport(url: string): Promise<Socket> {
  const socket = await openRawSocket(url, { 'sec-websocket-protocol': 'graphql-transport-ws' })
  socket.write(clientFrame(JSON.stringify({ type: 'connection_init' })))
  await new Promise((resolve, reject) => {
    socket.once('data', resolve).once('close', () => reject(new Error(`${url} has closed a socket before its start`)))
  })
  socket.write(clientFrame(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: counterQuery } })))
  return socket
}
