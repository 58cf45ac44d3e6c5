/** Manifests whose checksum is right, but which this version did not write. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { FatalError } from '../../src/core/fatal-error.ts'
import { openArchive } from '../../src/platform/archive/archive-reader.ts'
import { createSeal, type Manifest, parseSeal, sealLength } from '../../src/platform/archive/format.ts'
import { shareArchiveCopies } from '../support/archives.ts'

const createArchive = shareArchiveCopies()

/** Puts other bytes in the place of the manifest, with a seal that fits. */
function withManifest(path: string, change: (manifest: Buffer) => Buffer): void {
  const bytes = readFileSync(path)
  const end = bytes.length - sealLength
  const start = end - parseSeal(bytes.subarray(end), path).bytes
  const block = change(bytes.subarray(start, end))
  const seal = createSeal({ bytes: block.length, sha256: hash('sha256', block) })
  writeFileSync(path, Buffer.concat([bytes.subarray(0, start), block, seal]))
}

const isRefusal = (error: unknown) =>
  error instanceof FatalError &&
  error.exitCode === 65 &&
  /its manifest is not as this version of Latchkey writes it \(.+\): it is damaged or was made by another version/.test(
    error.message,
  )

type Loose = Record<string, unknown> & { tables: Record<string, unknown>[]; migrations: Record<string, unknown>[] }

const changes: Record<string, (manifest: Loose) => unknown> = {
  'no migrations': ({ migrations, ...rest }) => rest,
  'no tables': ({ tables, ...rest }) => rest,
  'no counted lists': ({ countedLists, ...rest }) => rest,
  'no format': ({ format, ...rest }) => rest,
  'no version': ({ latchkey, ...rest }) => rest,
  'no time': ({ takenAt, ...rest }) => rest,
  'another engine': (manifest) => ({ ...manifest, engine: 'mysql' }),
  'an older format': (manifest) => ({ ...manifest, format: 0 }),
  'migrations that are texts': (manifest) => ({ ...manifest, migrations: ['0001-users.sql'] }),
  'a migration without checksums': (manifest) => ({ ...manifest, migrations: [{ name: 'a', appliedAt: 'b' }] }),
  'a table without blocks': (manifest) => withTable(manifest, { blocks: undefined }),
  'a table without columns': (manifest) => withTable(manifest, { columns: undefined }),
  'a block of a negative length': (manifest) => withTable(manifest, { blocks: [{ bytes: -1, sha256: '' }] }),
  'a column of an unknown kind': (manifest) => withTable(manifest, { columns: [{ name: 'a', kind: 'colour' }] }),
  'a counter that is no number': (manifest) => withTable(manifest, { counter: { column: 'id', last: 'many' } }),
  'a table twice': (manifest) => ({ ...manifest, tables: [...manifest.tables, manifest.tables[0]] }),
  'a list instead of an object': () => [],
  'nothing in it': () => null,
}

function withTable(manifest: Loose, change: object): object {
  const [first, ...rest] = manifest.tables
  return { ...manifest, tables: [{ ...first, ...change }, ...rest] }
}

for (const [title, change] of Object.entries(changes)) {
  test(`an archive whose manifest has ${title} is refused`, async (t) => {
    const path = await createArchive(t)
    withManifest(path, (block) =>
      zstdCompressSync(JSON.stringify(change(JSON.parse(zstdDecompressSync(block).toString())))),
    )
    await assert.rejects(openArchive(path), isRefusal)
  })
}

test('an archive whose manifest is no JSON, or not compressed, is refused', async (t) => {
  for (const bytes of [zstdCompressSync('{"format": 1'), Buffer.from('{"format": 1}')]) {
    const path = await createArchive(t)
    withManifest(path, () => bytes)
    await assert.rejects(openArchive(path), isRefusal)
  }
})

test('a manifest with the number of a newer format is refused with a line that says so', async (t) => {
  const path = await createArchive(t)
  withManifest(path, (block) => {
    const manifest = JSON.parse(zstdDecompressSync(block).toString()) as Manifest
    return zstdCompressSync(JSON.stringify({ ...manifest, format: 2 }))
  })
  await assert.rejects(openArchive(path), /is an archive of format 2, and this version of Latchkey reads format 1/)
})

test('what this version does not know in a manifest does not matter', async (t) => {
  const path = await createArchive(t)
  withManifest(path, (block) =>
    zstdCompressSync(JSON.stringify({ ...JSON.parse(zstdDecompressSync(block).toString()), note: 'by hand' })),
  )
  await (await openArchive(path)).close()
})
