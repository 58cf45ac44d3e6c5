/** What is next to the migrations of collections. Read at each start, so it loads nothing else. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from '../../platform/database/database.ts'
import type { Described } from '../declare/describe.ts'

/** What the migrations of a folder have made. It is kept next to them. */
export interface Snapshot {
  /** The name space of the migrations. */
  space: string
  /** Their files. */
  migrations?: readonly string[]
  collections: Record<string, SnapshotCollection>
}

export interface SnapshotCollection {
  table: string
  fields: Record<string, SnapshotField>
  /** Definitions by name. */
  indexes: Record<Dialect, Record<string, string>>
  /** Of the texts of all triggers. */
  triggers: Record<Dialect, string>
}

export interface SnapshotField {
  kind: string
  item?: SnapshotField
  /** The collection that a relation refers to. */
  target?: string
  isComputed?: true
  scale?: number
  values?: readonly string[]
  min?: number
  max?: number
  optional?: boolean
  hasKey?: boolean
  onDelete?: string
  /** It is no longer declared, but has its column for now. */
  isKept?: true
  /** The field that took its place. */
  successor?: string
}

export const snapshotFile = 'collections.json'
export const dialects = ['sqlite', 'postgres'] as const

/** The collections whose migrations are in one folder. */
export interface CollectionFolder {
  path: string
  collections: readonly Described[]
}

export function readSnapshot({ path, collections }: CollectionFolder): Snapshot {
  const file = join(path, snapshotFile)
  const text = readText(file)
  if (text === undefined) {
    const found = dialects.flatMap((dialect) => listFiles(join(path, dialect)))[0]
    // Stays the same once it is written, whatever is declared later.
    if (found === undefined) return { space: collections[0]?.name ?? '', migrations: [], collections: {} }
    throw damaged(
      `${file} is missing, but there are migrations next to it, such as ${found}: restore it from version control, or name another folder in \`migrations\` of the collections`,
    )
  }
  const snapshot = parseSnapshot(text, file)
  for (const dialect of dialects) {
    const files = listFiles(join(path, dialect))
    const missing = snapshot.migrations?.find((name) => !files.includes(name))
    if (missing !== undefined) {
      throw damaged(
        `the migration ${join(path, dialect, missing)} is missing: restore it from version control, or restore ${snapshotFile} as it was before it and run bin/latchkey collections:diff`,
      )
    }
  }
  requireOneOfEachNumber(path)
  return snapshot
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw damaged(`${file} cannot be read: ${errorMessage(error)}`, error)
  }
}

function parseSnapshot(text: string, file: string): Snapshot {
  try {
    const snapshot = JSON.parse(text) as Snapshot
    if (isSnapshot(snapshot)) return snapshot
  } catch {
    // As below: its message may have several lines.
  }
  throw damaged(
    `${file} is not as it was written: restore it from version control, or resolve the conflict of a merge in it`,
  )
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function isSnapshot(value: Snapshot): boolean {
  const { space, migrations = [], collections } = isObject(value) ? value : ({} as Partial<Snapshot>)
  return (
    typeof space === 'string' &&
    Array.isArray(migrations) &&
    isObject(collections) &&
    Object.values(collections).every(
      (each) =>
        isObject(each) &&
        typeof each.table === 'string' &&
        isObject(each.fields) &&
        [each.indexes, each.triggers].every((of) => isObject(of) && dialects.every((dialect) => dialect in of)),
    )
  )
}

/** Two branches that were merged may each have written the next one. */
function requireOneOfEachNumber(path: string): void {
  const files = [...new Set(dialects.flatMap((dialect) => listFiles(join(path, dialect))))].sort()
  const second = files.find((file, i) => i > 0 && file.slice(0, 4) === files[i - 1]?.slice(0, 4))
  if (second === undefined) return
  const first = files[files.indexOf(second) - 1]
  throw damaged(
    `two migrations in ${path} have the number ${second.slice(0, 4)}: ${first} and ${second}; keep the one that is applied elsewhere, with its ${snapshotFile}, delete the other, and run bin/latchkey collections:diff`,
  )
}

const damaged = (message: string, cause?: unknown) => new FatalError(message, exitCodes.badData, { cause })

/** Whether anything has been written yet. */
export function hasMigrations(path: string): boolean {
  return dialects.some((dialect) => listFiles(join(path, dialect)).length > 0)
}

/** Of migrations. */
export function listFiles(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => name.endsWith('.sql'))
  } catch {
    return []
  }
}
