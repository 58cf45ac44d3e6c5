/** Attacks from one address at full rate. Each runs until its process is ended. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { openConsole } from '../../test/support/console.ts'
import { clientFrame } from '../../test/support/raw-socket.ts'
import { openRawSocket } from '../support/raw-socket.ts'
import { createUploads } from './uploads.ts'

export interface Target {
  url: string
  /** Credentials of an ordinary user. */
  email: string
  password: string
  token: string
}

export type Attack = (target: Target) => Promise<void>

const megabyte = 1024 * 1024

export const attacks = {
  'spaces for a token, on sockets': (target) =>
    forever(4, () => sayOnSocket(target, { type: 'connection_init', payload: { authorization: `Bearer ${spaces}` } })),

  'spaces for a price, in the console': async (target) => {
    const browser = openConsole(target)
    await browser.signIn(target.email, target.password)
    await forever(4, async () => {
      await browser.open('/console/products/new')
      await browser.submit('/console/products', { name: 'Lamp', description: 'Bright', price: spaces })
    })
  },

  '80,000 unknown keys in a variable': async ({ url }) => {
    const input = Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 1]))
    const query = 'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }'
    await forever(4, () => post(`${url}/graphql`, { query, variables: { input } }))
  },

  'a document with a default, over and over': ({ url }) =>
    forever(16, () => post(`${url}/graphql`, { query: 'query ($n: Int! = 2) { posts(limit: $n) { id } }' })),

  '100 logins and 100 registrations at once': logInAndRegister,

  '600 messages of a megabyte that never end': (target) => sendUnfinished(target, megabyte),
  '600 messages of 300 kB that never end': (target) => sendUnfinished(target, 300_000),

  '300 sockets with 100 documents each': async (target) => {
    const sockets = Array.from({ length: 300 }, () => openPlainSocket(target))
    for (const socket of await Promise.all(sockets)) {
      for (let i = 0; i < 100; i++) socket?.send(JSON.stringify({ id: String(i), query: documentNumber(i) }))
    }
    await forever(1, async () => {
      await post(`${target.url}/graphql`, { query: 'mutation { createPost(title: "a", body: "b") }' })
      await sleep(200)
    })
  },

  'lists that nobody reads': async ({ url }) => {
    for (let i = 0; i < 200; i++) void askAndNeverRead(url, '/api/v2/products?category=long')
    await forever(1, () => sleep(1000))
  },

  'the ids of 64 posts of the allowed size': ({ url }) =>
    forever(8, () => post(`${url}/graphql`, { query: '{ posts { id } }' })),

  'the bodies of 60 posts, 200 times at once': ({ url }) =>
    forever(200, () => post(`${url}/graphql`, { query: '{ posts(limit: 60) { body } }' })),

  'a category of 270 products of a megabyte': ({ url }) =>
    forever(2, async () => {
      const response = await fetch(`${url}/api/v2/products?category=long`)
      for await (const _chunk of response.body ?? []);
    }),

  'aborted counts': ({ url }) =>
    forever(200, async () => {
      const signal = AbortSignal.timeout(300)
      const response = await fetch(`${url}/api/v2/products?filter[price][gte]=1.5&count=exact&per_page=1`, { signal })
      await response.arrayBuffer()
    }),

  'key creation': ({ url, token }) => forever(50, () => post(`${url}/api/auth/keys`, { name: 'One of many' }, token)),

  'uploads of hostile files by one user': async (target) => {
    const uploads = await createUploads(target)
    for (let i = 0; i < 2; i++) uploads.stall()
    let count = 0
    await forever(4, () => uploads.send(count++))
  },

  'dead letters of a listener that always fails': ({ url, token }) =>
    forever(1, async () => {
      await fetch(`${url}/api/v2/products`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ name: 'Lamp', description: 'Bright', price: 1 }),
      })
      await sleep(10)
    }),
} satisfies Record<string, Attack>

export async function logInAndRegister({ url, email }: Target): Promise<void> {
  let count = 0
  await Promise.all([
    forever(100, () => post(`${url}/api/auth/login`, { email, password: 'not the right one' })),
    forever(100, () => {
      count += 1
      const registration = { email: `new${process.pid}-${count}@example.com`, password: 'Correct-Horse-1' }
      return post(`${url}/api/auth/register`, registration)
    }),
  ])
}

const spaces = `${' '.repeat(60_000)}\n`

/** Keeps `count` calls running. Calls that are refused or cut off are retried after a pause. */
async function forever(atOnce: number, attempt: () => Promise<unknown>): Promise<void> {
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (;;) await attempt().catch(() => sleep(20))
    }),
  )
}

async function post(url: string, json: object, token?: string): Promise<void> {
  const body = JSON.stringify(json)
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.arrayBuffer()
}

function sayOnSocket({ url }: Target, message: object): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    socket.on('open', () => socket.send(JSON.stringify(message)))
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}

function openPlainSocket({ url }: Target): Promise<WebSocket | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`)
    socket.on('open', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}

function documentNumber(i: number): string {
  return `subscription S${i} { counter { count a${i}: count } }`
}

async function sendUnfinished({ url }: Target, bytes: number): Promise<void> {
  for (let i = 0; i < 600; i++) void startMessage(url, bytes).catch(() => {})
  await forever(1, () => sleep(1000))
}

/** A message without its end. */
async function startMessage(url: string, bytes: number): Promise<void> {
  const socket = await openRawSocket(url)
  socket.write(clientFrame(Buffer.alloc(bytes - 1000, ' '), { announced: bytes }))
}

function askAndNeverRead(url: string, path: string): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  })
}
