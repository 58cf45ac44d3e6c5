/** Which database a URL names, and whether a service uses it. */
import { existsSync, realpathSync } from 'node:fs'
import { dialectOf, sqlitePath } from '../database/open.ts'
import { connectForArchive } from './postgres-snapshot.ts'
import { countServiceConnections } from './postgres-target.ts'
import { isSqliteInUse } from './sqlite-exclusive.ts'
import type { DatabasePlace } from './transfer.ts'

type Place = Pick<DatabasePlace, 'url' | 'root'>

export function isSamePlace(a: Place, b: Place): boolean {
  return identityOf(a) === identityOf(b)
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

function identityOf({ url, root }: Place): string {
  if (dialectOf(url) === 'sqlite') {
    const path = sqlitePath(url, root)
    return existsSync(path) ? realpathSync(path) : path
  }
  const { hostname, port, pathname } = new URL(url)
  return `${hostname}:${port || '5432'}${pathname}`
}
