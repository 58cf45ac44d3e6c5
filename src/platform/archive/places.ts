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

export function isSamePlace(a: Place, b: Place): boolean {
  if (dialectOf(a.url) !== dialectOf(b.url)) return false
  return dialectOf(a.url) === 'sqlite' ? realPathOf(a) === realPathOf(b) : isSameDatabase(a.url, b.url)
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
