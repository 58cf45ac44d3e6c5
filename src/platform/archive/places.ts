/** Which database a URL names, and whether a service uses it. */
import { existsSync, realpathSync } from 'node:fs'
import { isSameDatabase } from '../../core/postgres-url.ts'
import { dialectOf, sqlitePath } from '../database/open.ts'
import { connectForArchive } from './postgres-snapshot.ts'
import { countServiceConnections } from './postgres-target.ts'
import { isSqliteInUse } from './sqlite-exclusive.ts'
import type { DatabasePlace } from './transfer.ts'

type Place = Pick<DatabasePlace, 'url' | 'root'>

export function isSamePlace(a: Place, b: Place): boolean {
  if (dialectOf(a.url) !== dialectOf(b.url)) return false
  return dialectOf(a.url) === 'sqlite' ? realPathOf(a) === realPathOf(b) : isSameDatabase(a.url, b.url)
}

export async function isInUse({ url, root }: Place): Promise<boolean> {
  if (dialectOf(url) === 'sqlite') return isSqliteInUse(sqlitePath(url, root))
  const client = await connectForArchive(url)
  try {
    return (await countServiceConnections(client)) > 0
  } finally {
    await client.end()
  }
}

function realPathOf({ url, root }: Place): string {
  const path = sqlitePath(url, root)
  return existsSync(path) ? realpathSync(path) : path
}
