/**
 * Fills the compile cache (NODE_COMPILE_CACHE, see bin/latchkey): starts the service on an empty database, uses each of
 * its parts once, and stops it. The bundle has the code of the program; this is for its other threads and their packages.
 *
 * Node keeps a cache for each user, Node version and type of processor. On another one the service starts without it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'latchkey-warm-up-'))
const unavailable = 69
const nowhere = '127.0.0.1:1'

const environment = {
  PATH: process.env.PATH ?? '',
  NODE_ENV: 'production',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  HOST: '127.0.0.1',
  PORT: '0',
  GQL_WS_PORT: '0',
  DRAIN_SECONDS: '0',
  LOG_LEVEL: 'info',
  JWT_SECRET: 'nothing that is signed here lasts',
  DATABASE_URL: `file:${join(folder, 'latchkey.db')}`,
}

try {
  // The clients of PostgreSQL and Redis are loaded when they are used. There is none here, so these starts fail.
  await expectExit(unavailable, { DATABASE_URL: `postgres://latchkey@${nowhere}/latchkey` })
  await expectExit(unavailable, { REDIS_URL: `redis://${nowhere}` })
  // The flags that the service sets while it starts void a part of the first run's cache. The second run replaces that.
  for (let run = 1; run <= 2; run++) await serveOnce()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function start(more: Record<string, string> = {}) {
  return spawn(join(root, 'bin', 'latchkey'), ['start'], {
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

async function expectExit(expected: number, more: Record<string, string>): Promise<void> {
  const child = start(more)
  child.stdout.resume()
  const [code] = await once(child, 'exit')
  if (code !== expected) throw new Error(`the service ended with ${code} instead of ${expected}`)
}

async function serveOnce(): Promise<void> {
  const startedAt = performance.now()
  const child = start()
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('Latchkey is listening')) continue
    process.stdout.write(`listening after ${Math.round(performance.now() - startedAt)} ms\n`)
    const { url } = JSON.parse(line) as { url: string }
    await useAll(url)
    child.kill('SIGTERM')
    break
  }
  child.stdout.resume()
  const [code] = await ended
  if (code !== 0) throw new Error(`the service ended with ${code}`)
}

/** What the other responses are does not matter: the code that makes them is compiled. */
async function useAll(url: string): Promise<void> {
  const post = async (path: string, body: object, token = '') => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as { access_token?: string; refresh_token?: string }
  }
  const person = { name: 'Nobody', email: 'nobody@example.com', password: 'Correct-horse-9' }
  await post('/api/auth/register', person)
  const { access_token: token, refresh_token } = await post('/api/auth/login', person)
  if (token === undefined) throw new Error('the sign-in failed')
  await post('/api/auth/refresh', { refresh_token })
  await post('/api/v2/products', { name: 'Lamp', description: 'Bright', price: 1 }, token)
  await post('/graphql', { query: '{ posts { id title } }' })
  for (const path of ['/health/ready', '/api/v2/products?q=lamp', '/console/login', '/docs', '/openapi.json']) {
    await (await fetch(url + path)).arrayBuffer()
  }
}
