/** Which database a URL names, and whether a service uses it. */
import { existsSync, realpathSync } from 'node:fs'
import { isSameDatabase } from '../../core/postgres-url.ts'
import { dialectOf, sqlitePath } from '../database/open.ts'
import { followLinks } from '../database/sqlite/follow-links.ts'
import { connectForArchive } from './postgres-snapshot.ts'
import { findUse } from './postgres-use.ts'
import { isSqliteInUse } from './sqlite-exclusive.ts'
import type { DatabasePlace } from './transfer.ts'

type Place = Pick<DatabasePlace, 'url' | 'root'>

export async function isSamePlace(a: Place, b: Place): Promise<boolean> {
  if (dialectOf(a.url) !== dialectOf(b.url)) return false
  if (dialectOf(a.url) === 'sqlite') return realPathOf(a) === realPathOf(b)
  return isSameDatabase(a.url, b.url) || (await identityOf(a)) === (await identityOf(b))
}

/**
 * The same for a database under any of its addresses, and readable by any role. The system identifier would not do: a
 * copy of a server has that of the original.
 */
async function identityOf({ url }: Place): Promise<string> {
  const { client } = await connectForArchive(url)
  try {
    const { rows } = await client.query<{ oid: string; started: string }>(
      `SELECT oid, extract(epoch FROM pg_postmaster_start_time()) AS started
       FROM pg_database WHERE datname = current_database()`,
    )
    return `${rows[0]?.oid} ${rows[0]?.started}`
  } finally {
    await client.end()
  }
}

/** Returns how a service uses it and what to do; undefined if none does. */
export async function findUseOf({ url, root, schema }: DatabasePlace): Promise<string | undefined> {
  if (dialectOf(url) === 'sqlite') {
    return isSqliteInUse(sqlitePath(url, root)) ? 'another process has the file open: stop it first' : undefined
  }
  const connection = await connectForArchive(url)
  try {
    return await findUse(connection, schema.presenceTables)
  } finally {
    await connection.client.end()
  }
}

function realPathOf({ url, root }: Place): string {
  const path = followLinks(sqlitePath(url, root))
  return existsSync(path) ? realpathSync(path) : path
}
