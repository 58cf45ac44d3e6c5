/**
 * Tells a statement that takes long from a server that is frozen and from a connection that fell silent: the connection
 * that waits cannot tell, so the server is asked over another.
 */
import pg from 'pg'
import { withTimeout } from '../../../core/timeout.ts'
import { isConnectionError } from './errors.ts'

const maxAskMs = 1000

/** Which of these server processes are at work on a statement. Rejects where the server does not answer. */
export async function findWorking(url: string, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const client = new pg.Client({ connectionString: url, application_name: 'latchkey liveness' })
  // A lost connection fails the query; unheard, the event would end the process.
  client.on('error', () => {})
  try {
    return await withTimeout(askServer(client, pids), maxAskMs)
  } catch (error) {
    // It answers, be it with a refusal: all connections may be taken.
    if (!isConnectionError(error) && hasServerCode(error)) return new Set(pids)
    throw error
  } finally {
    client.connection.stream.destroy()
  }
}

async function askServer(client: pg.Client, pids: readonly number[]): Promise<ReadonlySet<number>> {
  await client.connect()
  // Without track_activities nothing is known of a process but that it is there.
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND coalesce(state, '') NOT LIKE 'idle%'`,
    [pids],
  )
  return new Set(rows.map(({ pid }) => pid))
}

/** SQLSTATE, as only the server gives it. */
function hasServerCode(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code ?? ''))
}
