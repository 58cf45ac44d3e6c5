/** What is next to the migrations of collections. Read at each start, so it loads nothing else. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '../../core/error-message.ts'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Described } from '../declare/describe.ts'
import type { Snapshot } from './diff.ts'

export const snapshotFile = 'collections.json'
export const dialects = ['sqlite', 'postgres'] as const

/** The collections whose migrations are in one folder. */
export interface CollectionFolder {
  path: string
  collections: readonly Described[]
}

export function readSnapshot({ path, collections }: CollectionFolder): Snapshot {
  const file = join(path, snapshotFile)
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Snapshot
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new FatalError(`${file} cannot be read: ${errorMessage(error)}`, exitCodes.badData, { cause: error })
    }
    // Stays the same once it is written, whatever is declared later.
    return { space: collections[0]?.name ?? '', collections: {} }
  }
}

/** Whether anything has been written yet. */
export function hasMigrations(path: string): boolean {
  return dialects.some((dialect) => listFiles(join(path, dialect)).length > 0)
}

export function listFiles(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
