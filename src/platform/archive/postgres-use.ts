/** Whether a service uses a PostgreSQL database. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ArchiveConnection } from './postgres-snapshot.ts'
import { quote } from './schema.ts'

interface ServiceConnections {
  /** Of the service, or kept by a pooler after it has stopped: the server cannot tell these apart. */
  count: number
  areAllIdle: boolean
}

const attempts = 10
const pauseMs = 200

/**
 * Returns how a service uses the database and what to do, as the end of a sentence; undefined if none does. The server
 * takes a moment to notice that one has ended.
 */
export async function findUse(
  connection: ArchiveConnection,
  presenceTables: readonly string[] = [],
): Promise<string | undefined> {
  let found = await findConnections(connection)
  for (let attempt = 0; attempt < attempts && found.count > 0; attempt++) {
    await sleep(pauseMs)
    found = await findConnections(connection)
  }
  if (found.count > 0) return describe(found)
  // A pooler may have closed them while the service is idle, or have given one of them to this command. And the URL of a
  // service may give its connections another name.
  if (await hasNodes(connection, presenceTables)) {
    return 'a node was there in the last 90 seconds: stop the service first. One that was killed is forgotten after that time'
  }
  return undefined
}

function describe({ count, areAllIdle }: ServiceConnections): string {
  const use = `a service has ${count} connections to it: stop the service first`
  const advice = 'a pooler such as PgBouncer keeps them for a while: RECONNECT in its console closes them'
  return areAllIdle ? `${use}. If it is stopped, ${advice}` : use
}

async function findConnections({ client }: ArchiveConnection): Promise<ServiceConnections> {
  // The state of connections of another role may be hidden. PgBouncer can add the address of its client to the name.
  const { rows } = await client.query<{ connections: string; busy: string }>(
    `SELECT count(*) AS connections, count(*) FILTER (WHERE state <> 'idle') AS busy FROM pg_stat_activity
     WHERE datname = current_database() AND application_name ~ '^latchkey( bus)?( - |$)' AND pid <> pg_backend_pid()`,
  )
  return { count: Number(rows[0]?.connections), areAllIdle: Number(rows[0]?.busy) === 0 }
}

async function hasNodes({ client }: ArchiveConnection, tables: readonly string[]): Promise<boolean> {
  for (const table of tables) {
    const name = quote(table)
    const { rows: existing } = await client.query('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [name])
    if (existing.length === 0) continue
    const { rows } = await client.query(
      `SELECT 1 FROM ${name} WHERE expires_at > extract(epoch FROM clock_timestamp()) LIMIT 1`,
    )
    if (rows.length > 0) return true
  }
  return false
}
