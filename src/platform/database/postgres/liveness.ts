/**
 * Distinguishes a long-running statement from a frozen server and from a dead connection. The waiting connection cannot
 * tell, so the server is queried over another one.
 */
import pg from 'pg'
import { withTimeout } from '../../../core/timeout.ts'
import { isConnectionError } from './postgres-error-codes.ts'

const maxAskMs = 1000

/** Returns those of the server processes that are executing a statement. Rejects if the server does not respond. */
export async function findWorking(url: string, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const client = new pg.Client({ connectionString: url, application_name: 'latchkey liveness' })
  // A lost connection fails the query; without a listener the event would end the process.
  client.on('error', () => {})
  try {
    return await withTimeout(askServer(client, pids), maxAskMs)
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
