/** Databases to back up, restore and move, and ways to compare them. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { declaredBy } from '../../src/app/declarations.ts'
import { ownFeatures } from '../../src/app/features.ts'
import { createClock, systemClock } from '../../src/core/clock.ts'
import { type Archive, openArchive } from '../../src/platform/archive/archive-reader.ts'
import type { Table } from '../../src/platform/archive/content.ts'
import { backUp, type DatabasePlace, restore } from '../../src/platform/archive/transfer.ts'
import { changeTable } from '../../src/platform/changes/change.ts'
import { createOutputFile } from '../../src/platform/command-line/output-file.ts'
import type { DeclaredSchema } from '../../src/platform/database/migrations.ts'
import { type Owner, share } from './api.ts'
import { createDatabaseUrl, temporaryFolder } from './databases.ts'

export const ownSchema: DeclaredSchema = declaredBy(ownFeatures)

export const placeOf = (url: string, schema = ownSchema): DatabasePlace => ({ url, root: '/', schema })

/** Always the same time, so that archives of the same rows have the same manifest. */
const still = createClock(() => 1_800_000_000_000)

export async function writeArchiveOf(t: Owner, from: DatabasePlace): Promise<string> {
  const path = join(temporaryFolder(t), 'test.archive')
  const file = await createOutputFile(path, { canReplace: false, mode: 0o600 })
  await backUp({ from, version: '0.0.0', clock: still, write: file.write })
  await file.finish()
  return path
}

/** An archive of an empty database, of which each test of a file gets a copy. */
export function shareArchiveCopies(): (t: Owner) => Promise<string> {
  const shared = share(async (owner) =>
    writeArchiveOf(owner, placeOf(await createDatabaseUrl(owner, 'sqlite', { isMigrated: true }))),
  )
  return async (t) => {
    const path = join(temporaryFolder(t), 'test.archive')
    copyFileSync(await shared(), path)
    return path
  }
}

export async function restoreInto(to: DatabasePlace, path: string, { canReplace = false } = {}) {
  const archive = await openArchive(path)
  try {
    return await restore(archive, { to, canReplace, clock: systemClock })
  } finally {
    await archive.close()
  }
}

export type ArchivedTables = Readonly<Record<string, { rows: number; digest: string; counter: Table['counter'] }>>

/** What an archive says of each table: columns, rows, checksum and counter, whichever engine it comes from. */
export async function tablesIn(path: string): Promise<ArchivedTables> {
  const archive: Archive = await openArchive(path)
  try {
    return Object.fromEntries(
      archive.manifest.tables.map(({ name, rows, digest, counter }) => [
        name,
        {
          rows,
          // Leases change while a service runs.
          digest: name === 'change_consumers' ? '' : digest,
          // A restored change log goes on with new ids: see changes-kept.test.ts.
          counter: name === changeTable ? undefined : counter,
        },
      ]),
    )
  } finally {
    await archive.close()
  }
}

/** The tables of a database, by way of an archive of it. */
export const tablesOfDatabase = async (t: TestContext, place: DatabasePlace): Promise<ArchivedTables> =>
  tablesIn(await writeArchiveOf(t, place))

/** The archive with one byte changed. */
export function withFlippedByte(path: string, at: number, mask: number): string {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] as number) ^ mask
  const flipped = `${path}.flipped`
  writeFileSync(flipped, bytes)
  return flipped
}
