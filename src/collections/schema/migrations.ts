/** Keeps the migrations of collections, and the snapshot next to them, in step with the declarations. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { diffCollections, type SchemaChange, type Snapshot, snapshotOf, type Violations } from './diff.ts'
import { type CollectionFolder, dialects, listFiles, readSnapshot, snapshotFile } from './snapshot.ts'

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
    (collection) => JSON.stringify(snapshot.collections[collection.name]) === JSON.stringify(snapshotOf(collection)),
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

/** Writes the next migration for both engines, and the snapshot. Returns the name of the migration, if there is one. */
export function writeFolder({ folder, snapshot, changes }: FolderDiff, name?: string): string | undefined {
  const statements = (dialect: 'sqlite' | 'postgres') => changes.flatMap((change) => change.statements[dialect])
  const collections = { ...snapshot.collections }
  for (const collection of folder.collections) collections[collection.name] = snapshotOf(collection)
  const file = `${nextNumber(folder.path)}-${name ?? nameOf(changes)}.sql`
  const hasStatements = dialects.some((dialect) => statements(dialect).length > 0)
  const comment = changes.flatMap(({ collection, text }) => (text === '' ? [] : [`-- ${collection}: ${text}.`]))
  try {
    if (hasStatements) {
      for (const dialect of dialects) {
        mkdirSync(join(folder.path, dialect), { recursive: true })
        writeWhole(
          join(folder.path, dialect, file),
          `${[...comment, ...statements(dialect).map((sql) => `${sql};`)].join('\n')}\n`,
        )
      }
    }
    mkdirSync(folder.path, { recursive: true })
    // Last: without it, the migration would be written again under the next number.
    writeWhole(join(folder.path, snapshotFile), `${JSON.stringify({ space: snapshot.space, collections }, null, 2)}\n`)
  } catch (error) {
    const reason = `the migrations of collections cannot be written to ${folder.path}: ${errorMessage(error)}`
    throw new FatalError(reason, exitCodes.configuration, { cause: error })
  }
  return hasStatements ? file : undefined
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
