/** Archives that somebody made to do harm: their checksums are right, what is in them is not. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { FatalError } from '../../src/core/fatal-error.ts'
import { createSeal, type Manifest, mark, parseSeal, sealLength } from '../../src/platform/archive/format.ts'
import { placeOf, restoreInto, shareArchiveCopies } from '../support/archives.ts'
import { temporaryFolder } from '../support/databases.ts'
import { amount } from '../support/tiers.ts'

interface ArchivedPart {
  table: Manifest['tables'][number]
  /** Compressed. */
  blocks: Buffer[]
}

interface OpenedArchive {
  manifest: Manifest
  parts: ArchivedPart[]
}

function readParts(path: string): OpenedArchive {
  const bytes = readFileSync(path)
  const end = bytes.length - sealLength
  const start = end - parseSeal(bytes.subarray(end), path).bytes
  const manifest = JSON.parse(zstdDecompressSync(bytes.subarray(start, end)).toString()) as Manifest
  let offset = mark.length
  const parts = manifest.tables.map((table) => ({
    table,
    blocks: table.blocks.map(({ bytes: length }) => {
      offset += length
      return bytes.subarray(offset - length, offset)
    }),
  }))
  return { manifest, parts }
}

/** Lengths and checksums fit what is written, unless `change` says otherwise. */
function writeParts(
  path: string,
  { manifest, parts }: OpenedArchive,
  change = (listed: object): unknown => listed,
): void {
  const tables = parts.map(({ table, blocks }) => ({
    ...table,
    blocks: blocks.map((block, i) => ({
      ...table.blocks[i],
      bytes: block.length,
      sha256: hash('sha256', block),
    })),
  }))
  const listed = zstdCompressSync(JSON.stringify(change({ ...manifest, tables })))
  const seal = createSeal({ bytes: listed.length, sha256: hash('sha256', listed) })
  writeFileSync(path, Buffer.concat([mark, ...parts.flatMap(({ blocks }) => blocks), listed, seal]))
}

const createArchive = shareArchiveCopies()

/** Returns undefined if it was restored, which harmless changes allow. */
async function refusalOf(path: string, folder: string): Promise<string | undefined> {
  const file = join(folder, 'restored.db')
  try {
    await restoreInto(placeOf(`file:${file}`), path, { canReplace: true })
    return undefined
  } catch (error) {
    assert.ok(error instanceof FatalError, `${(error as Error).stack}`)
    assert.equal(error.exitCode, 65, error.message)
    return error.message
  }
}

const first = 'roles_of_nobody'
const header = `{"table":"${first}"}\n`
const megabyte = 1024 * 1024

/** Replaces the rows of the first table, and says of them what is true, or what `claims` says. */
function withRows(opened: OpenedArchive, text: string | Buffer, claims: object = {}): OpenedArchive {
  const bytes = Buffer.from(text)
  const [part, ...rest] = opened.parts as [ArchivedPart, ...ArchivedPart[]]
  const rows = bytes.toString('latin1').split('\n').length - 2
  const listed = [{ bytes: 0, sha256: '', length: bytes.length }]
  const table = { ...part.table, rows, blocks: listed, ...claims } as Manifest['tables'][number]
  return { ...opened, parts: [{ table, blocks: [zstdCompressSync(bytes)] }, ...rest] }
}

const cells = ({ parts: [part] }: OpenedArchive, cell: string) =>
  `[${Array.from({ length: part?.table.columns.length ?? 0 }, () => cell).join()}]`

const hostile: Record<string, (opened: OpenedArchive) => OpenedArchive> = {
  'a block of 256 MB in some kilobytes': (opened) =>
    withRows(opened, Buffer.alloc(256 * megabyte, ' '), { rows: 0, blocks: [] }),
  'a block that is longer than it says': (opened) =>
    withRows(opened, `${header}${'[]\n'.repeat(1000)}`, { blocks: [{ bytes: 0, sha256: '', length: 10 }] }),
  'a block that is shorter than it says': (opened) =>
    withRows(opened, header, { blocks: [{ bytes: 0, sha256: '', length: 60 * megabyte }] }),
  'a block that says it has terabytes': (opened) =>
    withRows(opened, header, { blocks: [{ bytes: 0, sha256: '', length: 2 ** 40 }] }),
  'a row without an end': (opened) => withRows(opened, `${header}[1`, { rows: 1 }),
  'fewer rows than it says': (opened) => withRows(opened, header, { rows: 5 }),
  'a row that is no JSON': (opened) => withRows(opened, `${header}nothing\n`),
  'a row that is no list': (opened) => withRows(opened, `${header}{}\n`),
  'a row with too few cells': (opened) => withRows(opened, `${header}[1]\n`),
  'a row with too many cells': (opened) => withRows(opened, `${header}[${'1,'.repeat(5 * megabyte)}1]\n`),
  'deep JSON in a row': (opened) => withRows(opened, `${header}${'['.repeat(20 * megabyte)}\n`),
  'lists for cells': (opened) => withRows(opened, `${header}${cells(opened, '[1]')}\n`),
  'objects for cells': (opened) => withRows(opened, `${header}${cells(opened, '{"a":1}')}\n`),
  'integers of a million digits': (opened) =>
    withRows(opened, `${header}${cells(opened, `{"integer":"${'9'.repeat(megabyte)}"}`)}\n`),
  'integers of more than 64 bits': (opened) =>
    withRows(opened, `${header}${cells(opened, '{"integer":"9999999999999999999"}')}\n`),
  'numbers beyond every range': (opened) => withRows(opened, `${header}${cells(opened, '1e999')}\n`),
  'nothing but null': (opened) => withRows(opened, `${header}${cells(opened, 'null')}\n`),
  'bytes that are not compressed': (opened) => {
    const [part, ...rest] = opened.parts as [ArchivedPart, ...ArchivedPart[]]
    return { ...opened, parts: [{ ...part, blocks: [Buffer.from('no frame')] }, ...rest] }
  },
  'a part that is missing': (opened) => {
    const [part, ...rest] = opened.parts as [ArchivedPart, ...ArchivedPart[]]
    return { ...opened, parts: [{ ...part, blocks: [] }, ...rest] }
  },
  'a part twice': (opened) => {
    const [part, ...rest] = opened.parts as [ArchivedPart, ...ArchivedPart[]]
    return { ...opened, parts: [{ ...part, blocks: [...part.blocks, ...part.blocks] }, ...rest] }
  },
}

for (const [title, change] of Object.entries(hostile)) {
  test(`an archive with ${title} is refused, naming the table`, { timeout: 120_000 }, async (t) => {
    const path = await createArchive(t)
    const folder = temporaryFolder(t)
    const opened = readParts(path)
    writeParts(path, change(opened))
    assert.match(
      (await refusalOf(path, folder)) ?? 'it was restored',
      new RegExp(`table ${opened.parts[0]?.table.name}\\b`),
    )
    assert.ok(!existsSync(join(folder, 'restored.db')))
  })
}

const listings: Record<string, (manifest: Manifest) => unknown> = {
  'deep JSON in its manifest': (manifest) => ({
    ...manifest,
    note: JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`),
  }),
  'millions of values in its manifest': (manifest) => ({ ...manifest, note: new Array(2_100_000).fill(0) }),
  'a manifest of 40 MB': (manifest) => ({ ...manifest, note: ' '.repeat(40 * megabyte) }),
  'a counter beyond 64 bits': ({ tables: [table, ...rest], ...manifest }) => ({
    ...manifest,
    tables: [{ ...table, counter: { column: 'id', last: '9'.repeat(20) } }, ...rest],
  }),
  'a counted list that is no table': (manifest) => ({ ...manifest, countedLists: ["x'; DROP TABLE users; --"] }),
  'a migration of no time': ({ migrations, ...manifest }) => ({
    ...manifest,
    migrations: migrations.map((migration) => ({ ...migration, appliedAt: 'never' })),
  }),
}

for (const [title, change] of Object.entries(listings)) {
  test(`an archive with ${title} is refused`, { timeout: 120_000 }, async (t) => {
    const path = await createArchive(t)
    writeParts(path, readParts(path), (listed) => change(listed as Manifest))
    assert.match((await refusalOf(path, temporaryFolder(t))) ?? 'it was restored', /manifest/)
  })
}

test('an archive with anything behind its end is refused', async (t) => {
  const path = await createArchive(t)
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('and more')]))
  assert.match((await refusalOf(path, temporaryFolder(t))) ?? 'it was restored', /does not end with a seal/)
})

test('whatever is changed in an archive, it is restored or refused with code 65', { timeout: 300_000 }, async (t) => {
  const path = await createArchive(t)
  const folder = temporaryFolder(t)
  const original = readParts(path)
  const changed = join(folder, 'changed.archive')
  const splice = fc.record({
    table: fc.nat(),
    at: fc.nat(),
    removed: fc.nat(8),
    added: fc.constantFrom(
      '',
      '"',
      '[',
      ']',
      '{',
      '}',
      ',',
      '\n',
      '0',
      '-',
      'null',
      '1e9',
      '\\u0000',
      '\ud800',
      '{"bytes":1}',
    ),
    isOfManifest: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(splice, async ({ table, at, removed, added, isOfManifest }) => {
      const cut = (text: string) => {
        const start = at % (text.length + 1)
        return text.slice(0, start) + added + text.slice(start + removed)
      }
      if (isOfManifest) {
        writeParts(changed, original, (listed) => {
          try {
            return JSON.parse(cut(JSON.stringify(listed)))
          } catch {
            return null
          }
        })
      } else {
        const parts = original.parts.map((part, i) => {
          if (i !== table % original.parts.length) return part
          const blocks = part.blocks.map((block) => zstdCompressSync(cut(zstdDecompressSync(block).toString())))
          const listed = part.table.blocks.map(({ length: _length, ...block }) => block)
          return { table: { ...part.table, blocks: listed }, blocks }
        })
        writeParts(changed, { ...original, parts })
      }
      await refusalOf(changed, folder)
    }),
    { seed: 33, numRuns: amount({ full: 60, otherwise: 15 }) },
  )
})
