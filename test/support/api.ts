/** A listening service on a database of its own, with a clock to move. It closes itself when the test ends. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { root } from '../../src/config/root.ts'
import { type Clock, createClock } from '../../src/core/clock.ts'
import type { Dialect } from '../../src/platform/database/database.ts'
import { createLogger } from '../../src/platform/log/logger.ts'
import { createDatabaseUrl } from './databases.ts'

export interface ApiOptions extends Pick<AppOptions, 'elements' | 'extend' | 'migrations' | 'policies'> {
  engine?: Dialect
  /** Another folder of configuration. */
  config?: string
  /** Environment variables on top of the tests' own. */
  env?: Record<string, string>
}

export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON, or the text where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape and assert what they find
  body: any
}

export interface Api {
  databaseUrl: string
  url: string
  /** Of the port that serves sockets alone. */
  wsUrl: string
  app: App
  clock: MovableClock
  /** Every line of the log so far. */
  log: string[]
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  get(path: string, token?: string): Promise<Answer>
  post(path: string, body?: object, token?: string): Promise<Answer>
  put(path: string, body?: object, token?: string): Promise<Answer>
  delete(path: string, token?: string): Promise<Answer>
}

export interface RequestOptions {
  json?: unknown
  form?: Record<string, string>
  body?: string | Uint8Array
  headers?: Record<string, string>
  token?: string | undefined
}

export interface MovableClock extends Clock {
  advance(seconds: number): void
}

export async function startApi(t: TestContext, options: ApiOptions = {}): Promise<Api> {
  const { engine = 'sqlite', env = {} } = options
  const databaseUrl = env.DATABASE_URL ?? (await createDatabaseUrl(t, engine))
  const config = loadConfig({
    directory: options.config ?? join(root, 'config'),
    environment: {
      HOST: '127.0.0.1',
      PORT: '0',
      GQL_WS_HOST: '127.0.0.1',
      GQL_WS_PORT: '0',
      DATABASE_URL: databaseUrl,
      JWT_SECRET: 'a secret that only the tests know and use',
      BCRYPT_COST: '4',
      // The machine that runs the tests is busy by design.
      MAX_EVENT_LOOP_DELAY_MS: '0',
      ...env,
    },
    forService: true,
  })
  const clock = createMovableClock(beginningOn(databaseUrl))
  const log: string[] = []
  const destination = { write: (line: string) => void log.push(line) }
  const app = await createApp({
    config,
    clock,
    log: createLogger({ level: config.log.level, isTerminal: false, destination }),
    ...(options.extend && { extend: options.extend }),
    ...(options.elements && { elements: options.elements }),
    ...(options.policies && { policies: options.policies }),
    ...(options.migrations && { migrations: options.migrations }),
  })
  t.after(() => app.close())
  const { url, wsUrl } = await app.listen()
  return { url, wsUrl, databaseUrl, app, clock, log, ...createClient(url) }
}

/** Codes of a second factor hold for thirty seconds. Begun with such a stretch, a test is over before the next. */
const stretchMs = 30_000

interface Beginning {
  at: number
  startedAt: number
}

/** Nodes on one database tell the same time, whenever each was started: tokens of the future are refused. */
const beginnings = new Map<string, Beginning>()

function beginningOn(databaseUrl: string): Beginning {
  const beginning = beginnings.get(databaseUrl) ?? begin()
  beginnings.set(databaseUrl, beginning)
  return beginning
}

function begin(): Beginning {
  const now = Date.now()
  return { at: now - (now % stretchMs), startedAt: performance.now() }
}

export function createMovableClock({ at, startedAt }: Beginning = begin()): MovableClock {
  let now = at
  const clock = createClock(() => Math.floor(now + performance.now() - startedAt))
  return {
    ...clock,
    advance(seconds) {
      now += seconds * 1000
    },
  }
}

export function createClient(url: string) {
  async function request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = new Headers(options.headers)
    if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`)
    let body: string | Uint8Array | undefined = options.body
    if (options.json !== undefined) {
      headers.set('content-type', 'application/json')
      body = JSON.stringify(options.json)
    } else if (options.form) {
      headers.set('content-type', 'application/x-www-form-urlencoded')
      body = new URLSearchParams(options.form).toString()
    }
    const answer = await fetch(url + path, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body: body as string }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json') && text !== ''
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }
  return {
    request,
    get: (path: string, token?: string) => request('GET', path, { token }),
    post: (path: string, json: object = {}, token?: string) => request('POST', path, { json, token }),
    put: (path: string, json: object = {}, token?: string) => request('PUT', path, { json, token }),
    delete: (path: string, token?: string) => request('DELETE', path, { token }),
  }
}
