/** Before the database is migrated: do the migrations make the tables that the collections declare? */
import { resolve } from 'node:path'
import { collectionFolders, requireTargets } from '../collections/collection.ts'
import {
  type CountRows,
  diffFolder,
  type FolderDiff,
  findObstacles,
  isCurrent,
  writeFolder,
} from '../collections/schema/migrations.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { openDatabase } from '../platform/database/open.ts'
import type { Feature } from '../platform/feature.ts'

type DatabaseOptions = Parameters<typeof openDatabase>[0]

export interface CollectionSchemaOptions {
  features: readonly Feature[]
  database: Omit<DatabaseOptions, 'migrations' | 'isMigrated'>
}

export interface SyncOptions extends CollectionSchemaOptions {
  isDevelopment: boolean
  isServing: boolean
  onWritten(migration: string): void
}

const advice = 'run bin/latchkey collections:diff, review what it writes, and commit it'

/**
 * In development, writes migrations for what only adds. Otherwise a difference stops the start. Commands of a production
 * work with the tables that there are.
 */
export async function syncCollections({
  features,
  database,
  isDevelopment,
  isServing,
  onWritten,
}: SyncOptions): Promise<void> {
  requireTargets(features)
  const diffs = diffsOf(features)
  if (diffs.length === 0 || !(isDevelopment || isServing)) return
  if (!isDevelopment) throw differs(diffs)
  if (diffs.some(({ changes }) => changes.some(({ isAdditive }) => !isAdditive))) throw differs(diffs)
  await writeDiffs(diffs, { database, onWritten })
}

/** Those that have one. */
export function diffsOf(features: readonly Feature[]): FolderDiff[] {
  const folders = collectionFolders(features)
  for (const { path, collections } of folders) {
    const other = features.find(({ definition }) => definition.migrations && resolve(definition.migrations) === path)
    if (!other) continue
    throw new FatalError(
      `collection ${collections[0]?.name}: ${path} has the migrations of the feature ${other.name}: name another folder in \`migrations\``,
      exitCodes.configuration,
    )
  }
  const diffs = folders.map(diffFolder)
  requireOwnFolder(diffs)
  return diffs.filter((diff) => diff.changes.length > 0 || !isCurrent(diff))
}

/** A declaration that moved to another file would create its table once more. */
function requireOwnFolder(diffs: readonly FolderDiff[]): void {
  for (const { folder, snapshot } of diffs) {
    const moved = folder.collections.find(({ name }) => !snapshot.collections[name])?.name
    const former = moved && diffs.find((each) => each.snapshot.collections[moved])?.folder.path
    if (!former) continue
    throw new FatalError(
      `collection ${moved}: its migrations are in ${former}: name that folder in \`migrations\``,
      exitCodes.configuration,
    )
  }
}

/** Writes all of them, or throws with everything that stands in the way. */
export async function writeDiffs(
  diffs: readonly FolderDiff[],
  { database, name, onWritten }: Pick<SyncOptions, 'database' | 'onWritten'> & { name?: string },
): Promise<void> {
  const obstacles: string[] = []
  for (const diff of diffs) {
    const isChecked = diff.changes.some(({ violations }) => violations)
    obstacles.push(
      ...(isChecked
        ? await withDatabase(database, (count) => findObstacles(diff, count))
        : await findObstacles(diff, async () => 0)),
    )
  }
  if (obstacles.length > 0) throw new FatalError(obstacles, exitCodes.configuration)
  for (const diff of diffs) {
    for (const written of writeFolder(diff, name)) onWritten(`${diff.folder.path}/*/${written}`)
  }
}

/** Tables that are not there yet have no rows. */
async function withDatabase<T>(
  options: CollectionSchemaOptions['database'],
  work: (count: CountRows) => Promise<T>,
): Promise<T> {
  const { db } = await openDatabase({ ...options, migrations: [], isMigrated: true })
  try {
    return await work(async (sql) => {
      try {
        const [row] = await db.scan<{ found: number }>(sql[db.dialect])
        return row?.found
      } catch (error) {
        if (/no such (table|column)|does not exist/.test(String((error as Error).message))) return undefined
        throw error
      }
    })
  } finally {
    await db.close()
  }
}

function differs(diffs: readonly FolderDiff[]): FatalError {
  const lines = diffs.flatMap(({ changes }) =>
    changes.flatMap(({ collection, text, refusal }) =>
      text === '' ? [] : [`collection ${collection}: ${refusal ?? `the migrations do not ${text}`}`],
    ),
  )
  const problems = lines.length > 0 ? lines : ['the snapshot of the collections is not the one of these declarations']
  return new FatalError([...problems, advice], exitCodes.configuration)
}
