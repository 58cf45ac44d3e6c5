/** A thousand readers of the change log that only count entries. */
import { connect, type Socket } from 'node:net'
import { clientFrame } from '../../test/support/raw-socket.ts'
import { openRawSocket } from './raw-socket.ts'

/** What the server tells at /state. */
export interface ReaderState {
  /** That wait for an entry. */
  readers: number
  cpuSeconds: number
  /** Creates, and the processor time from the request to the answer. */
  answered: { creates: number; cpuSeconds: number }
}

export const createCost = {
  path: '/api/v2/products',
  body: { name: 'Desk Lamp', description: 'Bright and warm', price: 19.99, stock: 3 },
} as const

/** What every entry has once. */
const marker = '"cursor":"'
const query =
  'subscription ($after: String) { productChanges(after: $after) { cursor type at product { id name price stock } } }'
const pong = clientFrame('', { opcode: 10 })
/** The first byte of a ping. In an entry, which is ASCII, there is no such byte. */
const pingByte = 0x89

/** How each kind subscribes. */
const kinds = {
  'server-sent events': openEvents,
  'plain sockets': openPlain,
  'graphql-transport-ws': openTransport,
}
export type ReaderKind = keyof typeof kinds
export const readerKinds = Object.keys(kinds) as ReaderKind[]

export interface ChangeReaders {
  /** Resolves when all readers together have received this many entries since the last call. */
  receive(entries: number): Promise<void>
  close(): void
}

export async function openReaders(
  url: string,
  wanted: Readonly<Record<ReaderKind, number>>,
  /** A cursor. If it is empty, they read from now on. */
  after = '',
): Promise<ChangeReaders> {
  const sockets: Socket[] = []
  let received = 0
  let expected = Number.POSITIVE_INFINITY
  let onDone = () => {}
  const onClose = () => {
    throw new Error(`${url} has closed the connection of a reader`)
  }

  function add(socket: Socket): void {
    let rest = ''
    sockets.push(socket)
    socket.on('close', onClose).on('data', (chunk: Buffer) => {
      if (chunk.includes(pingByte)) socket.write(pong)
      const text = rest + chunk.toString('latin1')
      const parts = text.split(marker)
      // A marker may have been divided. The end of one that was counted is no beginning of another.
      rest = (parts.at(-1) as string).slice(1 - marker.length)
      received += parts.length - 1
      if (received >= expected) onDone()
    })
  }

  for (const kind of readerKinds) {
    for (let left = wanted[kind]; left > 0; left -= 50) {
      await Promise.all(Array.from({ length: Math.min(50, left) }, () => kinds[kind](url, { after, add })))
    }
  }
  return {
    async receive(entries) {
      expected = entries
      if (received < expected) {
        await new Promise<void>((resolve) => {
          onDone = resolve
        })
      }
      received -= expected
      expected = Number.POSITIVE_INFINITY
    },
    close: () => sockets.forEach((socket) => void socket.off('close', onClose).destroy()),
  }
}

/** `add` is called before the first entry can come. */
interface Opening {
  after: string
  add(socket: Socket): void
}

function openEvents(url: string, { after, add }: Opening): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', reject).once('data', () => resolve())
    add(socket)
    const head = `host: ${hostname}\r\naccept: text/event-stream\r\n`
    socket.write(`GET ${createCost.path}/changes?after=${after} HTTP/1.1\r\n${head}\r\n`)
  })
}

async function openPlain(url: string, { after, add }: Opening): Promise<void> {
  const socket = await openRawSocket(url)
  add(socket)
  socket.write(clientFrame(JSON.stringify({ query, variables: { after } })))
}

async function openTransport(url: string, { after, add }: Opening): Promise<void> {
  const socket = await openRawSocket(url, { 'sec-websocket-protocol': 'graphql-transport-ws' })
  add(socket)
  const acknowledged = new Promise((resolve) => socket.once('data', resolve))
  socket.write(clientFrame(JSON.stringify({ type: 'connection_init' })))
  await acknowledged
  socket.write(clientFrame(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { after } } })))
}
