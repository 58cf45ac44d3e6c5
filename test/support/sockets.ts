/** Client sockets that queue their messages until a test reads them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { objectType, subscription } from '../../src/platform/graphql/schema/elements.ts'
import { startPeriod } from '../../src/testing/clock.ts'
import { type ApiOptions, type Owner, share, unlimitedRates } from './api.ts'
import { eventually } from './eventually.ts'
import { type ApiWithRoles, startApiWithRoles } from './roles.ts'

export interface SocketApi extends ApiWithRoles {
  /** Waits until this many subscriptions exist. */
  subscribed(count: number): Promise<void>
}

export async function startSocketApi(t: Owner, options: ApiOptions = {}): Promise<SocketApi> {
  const api = await startApiWithRoles(t, options)
  return {
    ...api,
    subscribed: (count) =>
      eventually(() => assert.equal(api.parts.engine.counts().subscribers, count, `${count} are subscribed`)),
  }
}

/** One service for tests of sockets. Each gets it when nothing of the test before is open. */
export function shareSocketApi(options: ApiOptions = {}): () => Promise<SocketApi> {
  const shared = share((owner) => startSocketApi(owner, { ...options, env: { ...unlimitedRates, ...options.env } }))
  return async () => {
    const api = await shared()
    await eventually(() => {
      assert.deepEqual(api.parts.engine.counts(), { subscribers: 0, sources: 0 })
      assert.deepEqual(api.parts.sockets.counts(), { raw: 0, transport: 0 })
    })
    startPeriod(api.clock)
    return api
  }
}

/** How many posts there are, which the subscription `counter` tells after each new one. */
export async function countPosts({ db }: Pick<SocketApi, 'db'>): Promise<number> {
  return (await db.get<{ n: number }>('SELECT count(*) AS n FROM posts'))?.n ?? 0
}

/** A subscription whose messages are as long as a test publishes them. */
export const wide = [
  objectType({ name: 'Wide', fields: { text: 'String' } }),
  subscription({
    name: 'wide',
    type: 'Wide',
    access: 'public',
    async *subscribe(_args, { values }) {
      yield* values('wide')
    },
  }),
]

export interface SocketOptions {
  protocol?: string | string[]
  headers?: Record<string, string>
  token?: string
}

export interface Closed {
  code: number
  reason: string
}

export interface TestSocket {
  ws: WebSocket
  closed: Promise<Closed>
  /** Strings are sent as is, everything else as JSON. */
  send(message: unknown): void
  /** The next unread message, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape and assert what they find
  next(): Promise<any>
  /** The number of unread messages. */
  waiting(): number
}

/** Opens a socket, which is closed after the test. Rejects if the upgrade is refused. */
export async function openSocket(t: TestContext, url: string, options: SocketOptions = {}): Promise<TestSocket> {
  const headers = { ...options.headers, ...(options.token && { authorization: `Bearer ${options.token}` }) }
  const ws = new WebSocket(url, options.protocol ?? [], { headers })
  t.after(() => ws.terminate())
  const arrived: string[] = []
  let onArrival = () => {}
  ws.on('message', (data) => {
    arrived.push(String(data))
    onArrival()
  })
  const closed = new Promise<Closed>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
  })
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('error', reject)
  })
  ws.on('error', () => {})
  return {
    ws,
    closed,
    send: (message) => ws.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next() {
      if (arrived.length === 0) {
        await new Promise<void>((resolve, reject) => {
          const late = setTimeout(() => reject(new Error('no message came')), 30_000)
          onArrival = () => {
            clearTimeout(late)
            resolve()
          }
          void closed.then(({ code }) => {
            clearTimeout(late)
            reject(new Error(`the socket was closed with ${code}`))
          })
        })
      }
      return JSON.parse(arrived.shift() as string)
    },
    waiting: () => arrived.length,
  }
}

/** A socket with graphql-transport-ws, after connection_ack. */
export async function openTransport(t: TestContext, url: string, payload?: object): Promise<TestSocket> {
  const socket = await openSocket(t, url, { protocol: 'graphql-transport-ws' })
  socket.send({ type: 'connection_init', ...(payload && { payload }) })
  assert.deepEqual(await socket.next(), { type: 'connection_ack' })
  return socket
}

/** The status and body of a refused upgrade. */
export function refusedUpgrade(
  url: string,
  options: SocketOptions = {},
): Promise<{ status: number; body: unknown; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, options.protocol ?? [], { headers: options.headers ?? {} })
    ws.on('open', () => {
      ws.terminate()
      reject(new Error('the upgrade was not refused'))
    })
    ws.on('error', () => {})
    ws.on('unexpected-response', async (_request, response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text), headers: response.headers })
    })
  })
}

/** A subscription to the topic `secrets`, for editors only. */
export const secretElements = [
  objectType({ name: 'Secret', fields: { text: 'String' } }),
  subscription({
    name: 'secret',
    type: 'Secret',
    access: { role: 'editor' },
    async *subscribe(_args, { values }) {
      yield* values('secrets')
    },
  }),
]
