/** Keeps the migrations of collections, and the snapshot next to them, in step with the declarations. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from '../../platform/database/database.ts'
import { diffCollections, type SchemaChange, snapshotOf, type Violations } from './diff.ts'
import { type CollectionFolder, dialects, listFiles, readSnapshot, type Snapshot, snapshotFile } from './snapshot.ts'

export interface FolderDiff {
  folder: CollectionFolder
  snapshot: Snapshot
  changes: readonly SchemaChange[]
}

/** Counts rows; undefined if the table is not there. */
export type CountRows = (sql: Violations['sql']) => Promise<number | undefined>

export function diffFolder(folder: CollectionFolder): FolderDiff {
  const snapshot = readSnapshot(folder)
  return { folder, snapshot, changes: diffCollections(snapshot.collections, folder.collections) }
}

/** Whether the snapshot says something else, even where the tables stay the same. */
export function isCurrent({ folder, snapshot }: FolderDiff): boolean {
  return folder.collections.every(
    (collection) =>
      JSON.stringify(snapshot.collections[collection.name]) ===
      JSON.stringify(snapshotOf(collection, snapshot.collections[collection.name])),
  )
}

/** What stands in the way: each line is a reason. */
export async function findObstacles({ changes }: FolderDiff, countRows: CountRows): Promise<string[]> {
  const reasons: string[] = []
  for (const { collection, refusal, violations } of changes) {
    if (refusal !== undefined) reasons.push(`collection ${collection}: ${refusal}`)
    const found = violations && (await countRows(violations.sql))
    if (violations && found) reasons.push(`collection ${collection}: there are ${found} ${violations.reason}`)
  }
  return reasons
}

/** Writes the next migrations for both engines, and the snapshot. Returns the names of the migrations. */
export function writeFolder({ folder, snapshot, changes }: FolderDiff, name?: string): string[] {
  const { path } = folder
  const collections = { ...snapshot.collections }
  for (const collection of folder.collections)
    collections[collection.name] = snapshotOf(collection, collections[collection.name])
  const write = (of: Snapshot) => writeWhole(join(path, snapshotFile), `${JSON.stringify(of, null, 2)}\n`)
  try {
    mkdirSync(path, { recursive: true })
    if (!existsSync(join(path, snapshotFile))) write(snapshot)
    const parts = [changes.filter(({ isFirst }) => isFirst), changes.filter(({ isFirst }) => !isFirst)]
    const written = parts.flatMap((part) => writeMigration({ path, snapshot, changes: part }, name) ?? [])
    // Last: a process that stops before leaves what the next one finds unfinished.
    write({ space: snapshot.space, migrations: listFiles(join(path, 'sqlite')).sort(), collections })
    return written
  } catch (error) {
    const reason = `the migrations of collections cannot be written to ${path}: ${errorMessage(error)}`
    throw new FatalError(reason, exitCodes.configuration, { cause: error })
  }
}

function writeMigration(
  { path, snapshot, changes }: { path: string } & Pick<FolderDiff, 'snapshot' | 'changes'>,
  name = nameOf(changes),
): string | undefined {
  const comment = changes.flatMap(({ collection, text }) => (text === '' ? [] : [`-- ${collection}: ${text}.`]))
  const textOf = (dialect: Dialect) => {
    const statements = changes.flatMap((change) => change.statements[dialect])
    return statements.length > 0 ? `${[...comment, ...statements.map((sql) => `${sql};`)].join('\n')}\n` : ''
  }
  const texts = { sqlite: textOf('sqlite'), postgres: textOf('postgres') }
  if (dialects.every((dialect) => texts[dialect] === '')) return undefined
  const file = findUnfinished(path, snapshot, texts) ?? `${nextNumber(path)}-${name}.sql`
  for (const dialect of dialects) {
    mkdirSync(join(path, dialect), { recursive: true })
    writeWhole(join(path, dialect, file), texts[dialect])
  }
  return file
}

/** The same migration, written by a process that was killed, or that writes it at the same time. */
function findUnfinished(path: string, { migrations }: Snapshot, texts: Record<Dialect, string>): string | undefined {
  if (!migrations) return undefined
  return dialects
    .flatMap((dialect) =>
      listFiles(join(path, dialect)).filter(
        (file) => !migrations.includes(file) && readFileSync(join(path, dialect, file), 'utf8') === texts[dialect],
      ),
    )
    .at(0)
}

/** A crash leaves the old file or the new one. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}.draft`
  writeFileSync(draft, text)
  renameSync(draft, path)
}

function nextNumber(path: string): string {
  const numbers = dialects.flatMap((dialect) =>
    listFiles(join(path, dialect)).map((file) => Number(/^(\d{4})-/.exec(file)?.[1] ?? 0)),
  )
  return String(Math.max(0, ...numbers) + 1).padStart(4, '0')
}

function nameOf(changes: readonly SchemaChange[]): string {
  const [first] = changes.filter(({ text }) => text !== '')
  const words = first ? `${first.text.startsWith('create ') ? '' : `${first.collection}-`}${first.text}` : 'collections'
  return words
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/-$/, '')
}
