/** Opens connections to the hosts of a URL: tries them in order, and takes the first that fits target_session_attrs. */
import pg from 'pg'
import { errorMessage } from '../../../core/error-message.ts'
import { type PostgresHost, parsePostgresUrl, type SessionTarget } from '../../../core/postgres-url.ts'
import { withTimeout } from '../../../core/timeout.ts'
import { isAccessRefused, isPasswordRefused, PasswordMissing } from './postgres-error-codes.ts'

export interface OpenedClient {
  client: pg.Client
  host: PostgresHost
  /** The server process. Behind a pooler it may be another one for every transaction. */
  pid: number
  isPooled: boolean
}

export interface Hosts {
  readonly all: readonly PostgresHost[]
  /** Hosts and database, for messages. */
  readonly place: string
  /** Throws the error of the only host, or one that tells of each. */
  open(config: pg.ClientConfig): Promise<OpenedClient>
  /** Opens one more connection to a host, whether it fits or not. */
  openAt(host: PostgresHost, config: pg.ClientConfig): Promise<OpenedClient>
}

interface SessionState {
  pid: number
  standby: boolean
  read_only: boolean
}

export const connectTimeoutMs = 10_000
/** With several hosts, a silent one must not keep a request from reaching the others. */
const connectTimeoutOfSeveralMs = 2000
/** A host that failed is tried last for so long. */
const avoidMs = 10_000
const keepAliveAfterMs = 10_000

const stateQuery = {
  text: `SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby,
    current_setting('transaction_read_only') = 'on' AS read_only`,
  // The connection may be one that leaves values as text, where 'f' would be taken for true.
  types: pg.types,
}

/** `needsPrimary` refuses a standby even if the URL allows any host. */
export function createHosts(url: string, { needsPrimary = false } = {}): Hosts {
  const parsed = parsePostgresUrl(url)
  const { hosts, place } = parsed
  const target = needsPrimary && parsed.target === 'any' ? 'primary' : parsed.target
  const timeoutMs = parsed.connectTimeoutMs ?? (hosts.length > 1 ? connectTimeoutOfSeveralMs : connectTimeoutMs)
  const failedAt = new Map<PostgresHost, number>()

  async function open(config: pg.ClientConfig): Promise<OpenedClient> {
    const failures: string[] = []
    // Without a standby, `prefer-standby` takes any host.
    for (const wanted of target === 'prefer-standby' ? (['standby', 'any'] as const) : [target]) {
      for (const host of inOrder()) {
        try {
          const { state, ...opened } = await openHost(host, config, timeoutMs)
          if (fits(state, wanted)) {
            failedAt.delete(host)
            return opened
          }
          opened.client.connection.stream.destroy()
          failures.push(`${host.name} ${describe(state)}`)
        } catch (error) {
          // As in libpq, a refused password or user is not tried elsewhere.
          if (hosts.length === 1 || isAccessRefused(error)) throw error
          failures.push(`${host.name}: ${errorMessage(error)}`)
        }
        failedAt.set(host, performance.now())
      }
    }
    throw new NoFittingHost(target, failures)
  }

  function inOrder(): PostgresHost[] {
    const since = performance.now() - avoidMs
    const hasFailed = (host: PostgresHost) => (failedAt.get(host) ?? Number.NEGATIVE_INFINITY) > since
    return [...hosts.filter((host) => !hasFailed(host)), ...hosts.filter(hasFailed)]
  }

  return { all: hosts, place, open, openAt: (host, config) => openHost(host, config, timeoutMs) }
}

async function openHost(host: PostgresHost, config: pg.ClientConfig, timeoutMs: number) {
  const client = new pg.Client({
    ...config,
    connectionString: host.url,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  })
  // A lost connection fails its queries; without a listener the event would end the process.
  client.on('error', ignore)
  const opening = client.connect().then(async () => (await client.query<SessionState>(stateQuery)).rows[0])
  try {
    const state = (await withTimeout(opening, timeoutMs)) as SessionState
    // Connected directly, both are the process that serves this connection. A pooler makes the first one up.
    const isPooled = processIdOf(client) !== state.pid
    return { client, host, pid: state.pid, isPooled, state }
  } catch (error) {
    opening.catch(ignore)
    client.connection.stream.destroy()
    throw lacksPassword(client, error) ? new PasswordMissing(error) : error
  }
}

/** The driver's error for SCRAM has no code; with other methods it sends something, which the server refuses. */
function lacksPassword({ password }: pg.Client, error: unknown): boolean {
  const isMissing = password === undefined || password === null || password === ''
  return isMissing && (isPasswordRefused(error) || errorMessage(error).startsWith('SASL: '))
}

/** What the server said when the connection was opened. Not in the types of pg. */
function processIdOf(client: pg.Client): number | null {
  return (client as unknown as { processID: number | null }).processID
}

function fits({ standby, read_only }: SessionState, target: SessionTarget): boolean {
  if (target === 'read-write') return !standby && !read_only
  if (target === 'read-only') return standby || read_only
  if (target === 'primary') return !standby
  return target === 'standby' ? standby : true
}

function describe({ standby, read_only }: SessionState): string {
  if (standby) return 'is a standby'
  return read_only ? 'is read-only' : 'is a primary'
}

class NoFittingHost extends Error {
  /** "Unable to establish a connection", as the server's own errors. */
  readonly code = '08001'
  constructor(target: SessionTarget, failures: readonly string[]) {
    const reason = target === 'any' ? 'no host can be reached' : `no host fits target_session_attrs=${target}`
    super(`${reason} (${[...new Set(failures)].join('; ')})`)
  }
}

const ignore = () => {}
