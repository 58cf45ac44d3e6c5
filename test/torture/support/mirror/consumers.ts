/** Consumers that keep a copy by cursor, from any node, and whose connections are cut at random. */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { createLatchkey } from '../../../../packages/client/src/index.ts'
import { readBlocks } from '../../../support/event-stream.ts'
import { Copy, type Entry } from './copy.ts'
import { ofGraphQL, ofResource, productFields } from './rows.ts'

export interface Consumer {
  name: string
  copy: Copy
  /** How many connections it has had. */
  connections(): number
  /** What it cannot go on after. */
  failure(): Error | undefined
  stop(): Promise<void>
}

export interface ConsumerOptions {
  /** The address of a node, which may not be running. */
  pickNode(): string
  random(): number
  /** Where the copies begin. */
  cursor: string
}

/** Reads from the copy's cursor until the signal is aborted or the connection is lost. Throws what must not happen. */
type Connect = (connection: { url: string; copy: Copy; random(): number; signal: AbortSignal }) => Promise<void>

const path = '/api/v2/products/changes'
const fields = `{ cursor type version product { ${productFields} } }`
const query = `subscription ($after: String) { productChanges(after: $after) ${fields} }`
/** Before the next connection: after one that was cut, and after one that was lost or refused. */
const pauseMs = { cut: 10, lost: 100 }
const maxConnectedMs = 1500

/** It is not known why, and the consumer connects again. */
class Lost extends Error {}

const ways: Readonly<Record<string, Connect>> = {
  async REST({ url, copy, random, signal }) {
    while (!signal.aborted) {
      const limit = 1 + Math.floor(random() * 200)
      const address = `${url}${path}?after=${copy.cursor}&limit=${limit}&wait=5`
      const response = await fetch(address, { signal }).catch(lost)
      if (response.status !== 200) await response.text().catch(lost)
      requireStatus(response.status)
      const { data, meta } = (await response.json().catch(lost)) as { data: ReceivedChange[]; meta: { cursor: string } }
      for (const change of data) copy.apply(entryOf(change))
      copy.cursor = meta.cursor
    }
  },

  async 'server-sent events'({ url, copy, signal }) {
    const headers = { accept: 'text/event-stream', 'last-event-id': copy.cursor }
    const sent = request(url + path, { agent: false, headers, signal })
    sent.end()
    let failed: unknown
    const stream = await readBlocks(sent, (block) => {
      const data = block.split('\n').find((line) => line.startsWith('data: '))
      if (data === undefined || failed !== undefined) return
      try {
        copy.apply(entryOf(JSON.parse(data.slice('data: '.length))))
      } catch (error) {
        failed = error
        sent.destroy()
      }
    }).catch(lost)
    requireStatus(stream.response.statusCode ?? 0)
    await stream.ended
    if (failed !== undefined) throw failed
  },

  async client({ url, copy, random, signal }) {
    const limit = 1 + Math.floor(random() * 200)
    // Goes on by itself when the node comes back, until the signal is aborted.
    for await (const change of createLatchkey({ url }).changes(copy.cursor, { limit, signal }))
      copy.apply(entryOf(change))
  },

  'plain sockets': (connection) =>
    readSocket(connection, {
      start: (send) => send({ query, variables: { after: connection.copy.cursor } }),
      onMessage: ({ data, errors }) => ({ change: data?.productChanges, errors }),
    }),

  'graphql-transport-ws': (connection) =>
    readSocket(connection, {
      subprotocol: 'graphql-transport-ws',
      start: (send) => send({ type: 'connection_init' }),
      onMessage({ type, payload }, send) {
        const variables = { after: connection.copy.cursor }
        if (type === 'connection_ack') send({ id: '1', type: 'subscribe', payload: { query, variables } })
        return { change: payload?.data?.productChanges, errors: type === 'error' ? payload : payload?.errors }
      },
    }),
}

interface ReceivedChange {
  cursor: string
  type: string
  version: number
  data: unknown
}

function entryOf({ data, ...change }: ReceivedChange): Entry {
  return { ...change, row: ofResource(data) }
}

interface SocketOptions {
  subprotocol?: string
  start(send: (message: object) => void): void
  onMessage(
    // biome-ignore lint/suspicious/noExplicitAny: messages of two protocols
    message: any,
    send: (message: object) => void,
  ): { change?: Omit<Entry, 'row'> & { product: unknown }; errors?: unknown }
}

function readSocket(
  { url, copy, signal }: Parameters<Connect>[0],
  { subprotocol, start, onMessage }: SocketOptions,
): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, subprotocol === undefined ? [] : [subprotocol])
  const send = (message: object) => socket.send(JSON.stringify(message))
  const cut = () => socket.terminate()
  signal.addEventListener('abort', cut)
  return new Promise<void>((resolve, reject) => {
    socket.on('open', () => start(send))
    socket.on('message', (text) => {
      try {
        const { change, errors } = onMessage(JSON.parse(String(text)), send)
        if (errors) throwRefusal(errors)
        if (change) {
          const { product, ...entry } = change
          copy.apply({ ...entry, row: ofGraphQL(product) })
        }
      } catch (error) {
        reject(error)
        cut()
      }
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  }).finally(() => signal.removeEventListener('abort', cut))
}

function throwRefusal(errors: unknown): never {
  const text = JSON.stringify(errors)
  // The node stops, or its database is away.
  if (text.includes('"SERVICE_UNAVAILABLE"')) throw new Lost(text)
  throw new Error(`refused: ${text}`)
}

function requireStatus(status: number): void {
  if (status === 503 || status === 429) throw new Lost(String(status))
  if (status !== 200) throw new Error(`answered with ${status}`)
}

function lost(error: unknown): never {
  throw new Lost(String(error))
}

export function startConsumers(options: ConsumerOptions): Consumer[] {
  return Object.entries(ways).map(([name, connect]) => startConsumer(name, connect, options))
}

function startConsumer(name: string, connect: Connect, { pickNode, random, cursor }: ConsumerOptions): Consumer {
  const copy = new Copy(cursor)
  const stop = new AbortController()
  let connections = 0
  let failure: Error | undefined

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const cut = AbortSignal.timeout(Math.ceil(random() * maxConnectedMs))
      let isLost = false
      try {
        connections += 1
        await connect({ url: pickNode(), copy, random, signal: AbortSignal.any([cut, stop.signal]) })
      } catch (error) {
        if (!(error instanceof Lost)) throw error
        isLost = true
      }
      await sleep(isLost || !cut.aborted ? pauseMs.lost : pauseMs.cut)
    }
  }

  const running = run().catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error))
  })
  return {
    name,
    copy,
    connections: () => connections,
    failure: () => failure,
    async stop() {
      stop.abort()
      await running
    },
  }
}
