/** Starts a listening service with extensions, on a temporary database and with a clock that tests can move. */
import { join } from 'node:path'
import { type CommandServicesOptions, openCommandServices } from '../app/command-services.ts'
import { type App, createApp, type Listening, type OnCreated, type Parts } from '../app/create-app.ts'
import { loadConfig } from '../app/load-config.ts'
import { loadExtensions } from '../app/load-extensions.ts'
import { createThreadedApp } from '../app/threads/start-threads.ts'
import { root } from '../config/root.ts'
import { admin } from '../features/admin/admin.feature.ts'
import type { Dialect } from '../platform/database/database.ts'
import type { Feature, ServiceOf } from '../platform/feature.ts'
import { createLogger } from '../platform/log/logger.ts'
import { createClient, type Exchange } from './client.ts'
import { type Beginning, beginNow, createMovableClock, type MovableClock } from './clock.ts'
import { type ConsoleBrowser, openConsole } from './console.ts'
import { createTestDatabase, type TestDatabase, testThreads } from './databases.ts'
import { pooledWorkers } from './threads.ts'

export interface TestServiceOptions {
  /** Features, or paths of their modules, which several threads need to load them. */
  extensions?: readonly (Feature | string)[]
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
  /** Called for each request of the client that got a response. */
  onExchange?: (exchange: Exchange) => void
  /** By default as many as the variable THREADS says, and one if it is unset or if `extensions` has features. */
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
  /** Gives a user exactly these roles, without asking who may. */
  setRoles(email: string, ...roles: string[]): Promise<void>
  /** What the `create` of a feature returned. Only with one thread. */
  serviceOf<Service>(feature: Feature<Service>): Service
  /** A browser without scripts for the console, which keeps cookies and sends forms with their hidden fields. */
  openConsole(): ConsoleBrowser
  close(): Promise<void>
}

/** By database URL. Nodes on one database need the same time, because tokens from the future are refused. */
const beginnings = new Map<string, Beginning>()

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { environment = {} } = options
  const directory = options.config ?? join(root, 'config')
  const paths = (options.extensions ?? []).filter((each) => typeof each === 'string')
  const given = (options.extensions ?? []).filter((each) => typeof each !== 'string')
  const extensions = [...given, ...(await loadExtensions(paths, directory))]
  const threads = threadsFor(options, given.length > 0)
  const own =
    options.databaseUrl === undefined
      ? await createTestDatabase(options.engine ?? 'sqlite', { isMigrated: true })
      : undefined
  const databaseUrl = options.databaseUrl ?? (own as TestDatabase).url
  try {
    const sources = {
      directory,
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
        ...(paths.length > 0 && { LATCHKEY_EXTENSIONS: paths.join() }),
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
    const common = {
      config,
      log: createLogger({ level: config.log.level, isTerminal: false, destination }),
      extensions,
    }
    let parts: Parts | undefined
    const onCreated: OnCreated = async (http, created) => {
      parts = created
      await options.onCreated?.(http, created)
    }
    const app =
      threads > 1
        ? await createThreadedApp({
            ...common,
            ...sources,
            threads,
            clock: { clock, memory: clock.memory },
            workers: pooledWorkers,
          })
        : await createApp({ ...common, clock, onCreated })
    const { url, wsUrl } = await listen(app)
    const close = async () => {
      await app.close()
      await own?.drop()
    }
    return {
      url,
      wsUrl,
      databaseUrl,
      app,
      clock,
      log,
      setRoles: (email, ...roles) => setRoles(common, email, roles),
      serviceOf(feature) {
        if (!parts) throw new Error('services are in the serving threads: use one thread')
        return parts.serviceOf(feature)
      },
      openConsole: () => openConsole({ url }),
      close,
      ...createClient(url, options.onExchange),
    }
  } catch (error) {
    await own?.drop()
    throw error
  }
}

/** Functions cannot be handed to another thread. */
function threadsFor({ threads, onCreated }: TestServiceOptions, hasFeatures: boolean): number {
  if (!hasFeatures && !onCreated) return threads ?? testThreads()
  if (threads === undefined || threads === 1) return 1
  throw new Error('several threads cannot share a feature or onCreated: name extensions by the paths of their modules')
}

/** As the command user:roles does, with the same checks. */
async function setRoles(options: Omit<CommandServicesOptions, 'only'>, email: string, roles: string[]): Promise<void> {
  const { services, infrastructure } = await openCommandServices({ ...options, only: [admin] })
  try {
    const { admin: users } = services.get(admin) as ServiceOf<typeof admin>
    const user = await users.findByEmail(email)
    if (!user) throw new Error(`there is no user ${email}`)
    await users.setRoles(
      { id: null, holder: undefined, client: { address: 'local', userAgent: 'a test' } },
      user.id,
      roles,
    )
  } finally {
    await infrastructure.close()
  }
}

async function listen(app: App): Promise<Listening> {
  try {
    return await app.listen()
  } catch (error) {
    await app.close()
    throw error
  }
}
