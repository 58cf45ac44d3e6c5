/** Backup, restore and move: content from a database or an archive to an archive or a database. */
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { changeTable } from '../changes/change.ts'
import type { DeclaredSchema } from '../database/migrations.ts'
import { dialectOf, sqlitePath } from '../database/open.ts'
import { type Archive, openArchive } from './archive-reader.ts'
import { type WriteBytes, writeArchive } from './archive-writer.ts'
import type { Content, OnProgress } from './content.ts'
import { type Filled, fill } from './fill.ts'
import type { Manifest } from './format.ts'
import { openPostgresSnapshot } from './postgres-snapshot.ts'
import { openPostgresTarget } from './postgres-target.ts'
import { openSqliteSnapshot, type Snapshot } from './sqlite-snapshot.ts'
import { openSqliteTarget } from './sqlite-target.ts'
import type { Committed, Target } from './target.ts'

export interface DatabasePlace {
  url: string
  /** Base of relative SQLite paths. */
  root: string
  schema: DeclaredSchema
}

export interface BackupOptions {
  from: DatabasePlace
  /** The version of Latchkey. */
  version: string
  clock: Clock
  write: WriteBytes
  onProgress?: OnProgress | undefined
}

export interface BackedUp {
  manifest: Manifest
  /** Tables in the database that no migration of the program makes. */
  leftOut: readonly string[]
}

export async function backUp({ from, version, clock, write, onProgress }: BackupOptions): Promise<BackedUp> {
  const takenAt = clock.nowIso()
  const snapshot = await openSnapshot(from)
  try {
    const manifest = await writeArchive({ content: snapshot, version, takenAt, write, onProgress })
    return { manifest, leftOut: snapshot.leftOut }
  } finally {
    await snapshot.close()
  }
}

export interface RestoreOptions {
  to: DatabasePlace
  /** Whether data that is there may be replaced. */
  canReplace: boolean
  clock: Clock
  onProgress?: OnProgress | undefined
}

export interface Restored extends Filled, Committed {}

export async function restore(archive: Archive, options: RestoreOptions): Promise<Restored> {
  return transfer(withNewCursors(archive, options.clock), options, expectedOf(archive))
}

/**
 * What was committed after the backup is lost, and so must be the cursors of it. The change log goes on with ids that it never
 * had before: from the time in microseconds, which grows faster than the log.
 */
function withNewCursors(archive: Archive, clock: Clock): Content {
  const tables = archive.tables.map((table) => {
    const { name, counter } = table
    if (name !== changeTable || !counter) return table
    const last = [BigInt(counter.last), BigInt(clock.now()) * 1000n].reduce((a, b) => (a > b ? a : b))
    return { ...table, counter: { ...counter, last: String(last) } }
  })
  return { ...archive, tables }
}

function expectedOf({ manifest }: Archive): ReadonlyMap<string, { rows: number; digest: string }> {
  return new Map(manifest.tables.map((table) => [table.name, table]))
}

export interface Moved extends Restored {
  leftOut: readonly string[]
}

export async function move(from: DatabasePlace, options: RestoreOptions): Promise<Moved> {
  const snapshot = await openSnapshot(from)
  try {
    return { ...(await transfer(snapshot, options)), leftOut: snapshot.leftOut }
  } finally {
    await snapshot.close()
  }
}

/**
 * Restores the archive into a temporary database, which compares every row, and throws that away. It is never committed:
 * flushing it to the disk would only hold up the service.
 */
export async function prove(
  path: string,
  folder: string,
  { schema, clock }: { schema: DeclaredSchema; clock: Clock },
): Promise<Filled> {
  const archive = await openArchive(path)
  try {
    const to = { url: `file:${join(folder, 'proof.db')}`, root: folder, schema }
    const target = await openTarget(archive, { to, canReplace: true, clock, isProof: true })
    try {
      return await fill({ content: archive, target, expected: expectedOf(archive) })
    } finally {
      await target.discard()
    }
  } finally {
    await archive.close()
  }
}

function openSnapshot({ url, root, schema }: DatabasePlace): Promise<Snapshot> {
  return dialectOf(url) === 'sqlite'
    ? openSqliteSnapshot(sqlitePath(url, root), schema)
    : openPostgresSnapshot(url, schema)
}

async function transfer(
  content: Content,
  options: RestoreOptions,
  expected?: ReadonlyMap<string, { rows: number; digest: string }>,
): Promise<Restored> {
  const target = await openTarget(content, options)
  try {
    const filled = await fill({ content, target, onProgress: options.onProgress, ...(expected && { expected }) })
    return { ...filled, ...(await target.commit()) }
  } finally {
    await target.discard()
  }
}

function openTarget(
  content: Content,
  { to, canReplace, clock, isProof = false }: RestoreOptions & { isProof?: boolean },
): Promise<Target> {
  const { migrations, countedLists } = content
  const options = { schema: to.schema, migrations, countedLists, canReplace, isProof, clock }
  return dialectOf(to.url) === 'sqlite'
    ? openSqliteTarget(sqlitePath(to.url, to.root), options)
    : openPostgresTarget(to.url, options)
}
