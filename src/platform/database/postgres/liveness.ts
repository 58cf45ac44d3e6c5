/**
 * Distinguishes a long-running statement from a frozen server and from a dead connection. The waiting connection cannot
 * tell, so the server is queried over another one.
 */
import pg from 'pg'
import type { PostgresHost } from '../../../core/postgres-url.ts'
import { withTimeout } from '../../../core/timeout.ts'
import type { Connection } from './client.ts'
import { isConnectionError } from './postgres-error-codes.ts'

export interface Liveness {
  /** Those whose server process is executing a statement. */
  working: ReadonlySet<Connection>
  /** Whether any host has responded. */
  isResponding: boolean
}

export interface LivenessOptions {
  hosts: readonly PostgresHost[]
  /** Past a pooler, if there is a way. They know the processes of all connections. */
  directHosts: readonly PostgresHost[] | undefined
  /** With transaction pooling, a check may have to wait for a server connection as other queries do. */
  isTransactionPooled(): boolean
}

const maxAskMs = 1000
const maxAskThroughPoolerMs = 5000

export function createLiveness({ hosts, directHosts, isTransactionPooled }: LivenessOptions) {
  return async function findWorking(suspects: readonly Connection[]): Promise<Liveness> {
    const isShared = isTransactionPooled()
    const areDirect = isShared && directHosts !== undefined
    const limitMs = isShared && !areDirect ? maxAskThroughPoolerMs : maxAskMs
    const found = await Promise.all(
      (areDirect ? directHosts : hosts).map(async (host) => {
        const mine = areDirect ? suspects : suspects.filter((connection) => connection.host === host)
        const pids = await findWorkingPids(
          host.url,
          mine.map(({ pid }) => pid),
          limitMs,
        ).catch(() => undefined)
        return pids && mine.filter(({ pid }) => pids.has(pid))
      }),
    )
    return { working: new Set(found.flatMap((each) => each ?? [])), isResponding: found.some(Boolean) }
  }
}

/** Rejects if the server does not respond. */
async function findWorkingPids(url: string, pids: readonly number[], limitMs: number): Promise<ReadonlySet<number>> {
  const client = new pg.Client({ connectionString: url, application_name: 'latchkey liveness' })
  // A lost connection fails the query; without a listener the event would end the process.
  client.on('error', () => {})
  try {
    return await withTimeout(askServer(client, pids), limitMs)
  } catch (error) {
    // A refusal is a response too, such as "too many connections".
    if (!isConnectionError(error) && hasServerCode(error)) return new Set(pids)
    throw error
  } finally {
    client.connection.stream.destroy()
  }
}

async function askServer(client: pg.Client, pids: readonly number[]): Promise<ReadonlySet<number>> {
  await client.connect()
  // Without track_activities `state` is unknown; such a process counts as working.
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND coalesce(state, '') NOT LIKE 'idle%'`,
    [pids],
  )
  return new Set(rows.map(({ pid }) => pid))
}

/** A SQLSTATE, which only the server sends. */
function hasServerCode(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code ?? ''))
}
