/** Starts a listening service with extensions, on a temporary database and with a clock that tests can move. */
import { join } from 'node:path'
import { type App, createApp, type Listening, type OnCreated } from '../app/create-app.ts'
import { loadConfig } from '../app/load-config.ts'
import { createThreadedApp } from '../app/threads/start-threads.ts'
import { root } from '../config/root.ts'
import type { Dialect } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { createLogger } from '../platform/log/logger.ts'
import { createClient } from './client.ts'
import { type Beginning, beginNow, createMovableClock, type MovableClock } from './clock.ts'
import { createTestDatabase, type TestDatabase, testThreads } from './databases.ts'
import { pooledWorkers } from './threads.ts'

export interface TestServiceOptions {
  extensions?: readonly Feature[]
  /** Default `sqlite`. `postgres` creates a database on the server in TEST_DATABASE_URL. */
  engine?: Dialect
  /** Uses an existing database instead of a new one, and does not drop it. */
  databaseUrl?: string
  /** The configuration folder; by default the service's own. */
  config?: string
  /** Environment variables in addition to the defaults for tests. */
  environment?: Readonly<Record<string, string>>
  /** Called before the service listens. */
  onCreated?: OnCreated
  /** By default as many as the variable THREADS says, and one if it is unset. */
  threads?: number
}

export interface TestService extends ReturnType<typeof createClient> {
  url: string
  /** The URL of the separate WebSocket port. */
  wsUrl: string
  databaseUrl: string
  app: App
  clock: MovableClock
  /** All log lines so far. */
  log: string[]
  close(): Promise<void>
}

/** By database URL. Nodes on one database need the same time, because tokens from the future are refused. */
const beginnings = new Map<string, Beginning>()

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { extensions = [], environment = {} } = options
  const own = options.databaseUrl === undefined ? await createTestDatabase(options.engine ?? 'sqlite') : undefined
  const databaseUrl = options.databaseUrl ?? (own as TestDatabase).url
  try {
    const sources = {
      directory: options.config ?? join(root, 'config'),
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        GQL_WS_HOST: '127.0.0.1',
        GQL_WS_PORT: '0',
        DATABASE_URL: databaseUrl,
        JWT_SECRET: 'a secret that only the tests know and use',
        BCRYPT_COST: '4',
        // Test runs keep the machine busy, which must not shed load.
        MAX_EVENT_LOOP_DELAY_MS: '0',
        // In production too: there is no proxy that a stop would have to wait for.
        DRAIN_SECONDS: '0',
        ...environment,
      },
      forService: true,
    }
    const config = loadConfig(sources, extensions)
    const beginning = beginnings.get(databaseUrl) ?? beginNow()
    beginnings.set(databaseUrl, beginning)
    const clock = createMovableClock(beginning)
    const log: string[] = []
    const destination = { write: (line: string) => void log.push(line) }
    const parts = {
      config,
      log: createLogger({ level: config.log.level, isTerminal: false, destination }),
      extensions,
    }
    const threads = options.threads ?? testThreads()
    const app =
      threads > 1 && canUseThreads(options)
        ? await createThreadedApp({
            ...parts,
            ...sources,
            threads,
            clock: { clock, memory: clock.memory },
            workers: pooledWorkers,
          })
        : await createApp({ ...parts, clock, ...(options.onCreated && { onCreated: options.onCreated }) })
    const { url, wsUrl } = await listen(app)
    const close = async () => {
      await app.close()
      await own?.drop()
    }
    return { url, wsUrl, databaseUrl, app, clock, log, close, ...createClient(url) }
  } catch (error) {
    await own?.drop()
    throw error
  }
}

/** Functions cannot be handed to another thread. */
function canUseThreads({ extensions = [], onCreated }: TestServiceOptions): boolean {
  return extensions.length === 0 && onCreated === undefined
}

async function listen(app: App): Promise<Listening> {
  try {
    return await app.listen()
  } catch (error) {
    await app.close()
    throw error
  }
}
