/** Opens an archive. Every byte is checked, and the size of every part, before any of its rows is used. */
import { hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { badArchive, type Content, type Row, type Table } from './content.ts'
import {
  type ArchivedTable,
  type Block,
  type Manifest,
  mark,
  maxBlockLength,
  maxManifestLength,
  maxRowLength,
  parseSeal,
  requireMark,
  sealLength,
} from './format.ts'
import { parseManifest, unreadableManifest } from './manifest.ts'
import { parseRow, writeRow } from './row-text.ts'
import { notAsListed, TableDigest } from './table-digest.ts'

export interface Archive extends Content {
  readonly manifest: Manifest
  readonly bytes: number
  close(): Promise<void>
}

const rowsAtOnce = 1000

/** Throws a FatalError that names the damaged part. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await openFile(path)
  try {
    const { size } = await file.stat()
    const { manifest, offset } = await readManifest(file, path, size)
    const positions = locate(manifest, path, offset)
    for (const place of positions.values()) await checkTable(file, path, place)
    return {
      manifest,
      bytes: size,
      dialect: manifest.engine,
      migrations: manifest.migrations,
      countedLists: manifest.countedLists,
      tables: manifest.tables,
      estimatedRows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
      rows: (table) => readRows(file, path, positions.get(table.name) as Place),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r')
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    throw new FatalError(`cannot read ${path}: ${(error as Error).message}`, exitCodes.noInput, { cause: error })
  }
  throw new FatalError(`cannot read ${path}: it is not a file`, exitCodes.noInput)
}

async function readManifest(file: FileHandle, path: string, size: number) {
  requireMark(await readAt(file, 0, Math.min(mark.length, size)), path)
  if (size < mark.length + sealLength) throw cutOff(path)
  const block = parseSeal(await readAt(file, size - sealLength, sealLength), path)
  const offset = size - sealLength - block.bytes
  if (offset < mark.length || block.bytes > maxManifestLength) throw damaged(path, 'the seal')
  const compressed = await readChecked(file, path, { ...block, offset, name: 'the manifest' })
  return { manifest: parseManifest(decompressManifest(compressed, path), path), offset }
}

function decompressManifest(compressed: Buffer, path: string): string {
  try {
    return zstdDecompressSync(compressed, { maxOutputLength: maxManifestLength }).toString('utf8')
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw unreadableManifest(path, isTooLong ? 'it is too long' : 'it is not compressed')
  }
}

interface Place {
  table: ArchivedTable
  offset: number
}

/** Blocks lie one behind the other, from the mark to the manifest. */
function locate({ tables }: Manifest, path: string, end: number): Map<string, Place> {
  const places = new Map<string, Place>()
  let offset = mark.length
  for (const table of tables) {
    places.set(table.name, { table, offset })
    for (const { bytes } of table.blocks) offset += bytes
  }
  if (offset !== end) throw damaged(path, 'the manifest, which does not fit the length of the file')
  return places
}

async function checkTable(file: FileHandle, path: string, place: Place): Promise<void> {
  const { name, rows } = place.table
  let lines = 0
  for (const block of blocksOf(place)) lines += countLines(await readBlock(file, path, block), path, block)
  // The first line names the table and its columns, for people.
  if (lines !== rows + 1) throw damaged(path, `table ${name}, which has ${lines - 1} rows instead of ${rows}`)
}

const newline = 0x0a

function countLines(text: Buffer, path: string, { name }: PlacedBlock): number {
  let lines = 0
  for (let start = 0; start < text.length; lines++) {
    const end = text.indexOf(newline, start)
    if (end === -1 || end - start > maxRowLength) throw damaged(path, name)
    start = end + 1
  }
  return lines
}

async function* readRows(file: FileHandle, path: string, place: Place): AsyncGenerator<readonly Row[]> {
  const columns = place.table.columns.length
  let isFirst = true
  for (const block of blocksOf(place)) {
    const lines = (await readBlock(file, path, block)).toString('utf8').split('\n')
    lines.pop()
    const start = isFirst ? 1 : 0
    isFirst = false
    for (let at = start; at < lines.length; at += rowsAtOnce) {
      yield parseRows(lines.slice(at, at + rowsAtOnce), columns, damaged(path, block.name))
    }
  }
}

function parseRows(lines: readonly string[], columns: number, refusal: FatalError): Row[] {
  try {
    return lines.map((line) => parseRow(line, columns))
  } catch {
    throw refusal
  }
}

interface PlacedBlock extends Block {
  offset: number
  name: string
}

function* blocksOf({ table, offset: start }: Place): Generator<PlacedBlock> {
  let offset = start
  for (const [i, block] of table.blocks.entries()) {
    yield { ...block, offset, name: `table ${table.name}, part ${i + 1} of ${table.blocks.length}` }
    offset += block.bytes
  }
}

/** A block of a few kilobytes can be one of gigabytes, so its length is bounded while it is decompressed. */
async function readBlock(file: FileHandle, path: string, block: PlacedBlock): Promise<Buffer> {
  const { length = maxBlockLength } = block
  const compressed = await readChecked(file, path, block)
  if (length > maxBlockLength) throw damaged(path, block.name)
  try {
    const text = zstdDecompressSync(compressed, { maxOutputLength: Math.max(1, length) })
    if (block.length === undefined || text.length === length) return text
  } catch {
    // Refused like any other length.
  }
  throw damaged(path, block.name)
}

async function readChecked(
  file: FileHandle,
  path: string,
  { offset, bytes, sha256, name }: PlacedBlock,
): Promise<Buffer> {
  const found = bytes <= maxBlockLength ? await readAt(file, offset, bytes) : Buffer.alloc(0)
  if (found.length !== bytes || hash('sha256', found) !== sha256) throw damaged(path, name)
  return found
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position, length })
  return buffer.subarray(0, bytesRead)
}

function damaged(path: string, part: string): FatalError {
  return badArchive(`${path} is damaged: ${part}. Nothing was written`)
}

function cutOff(path: string): FatalError {
  return badArchive(`${path} was cut off: it ends before its manifest. Nothing was written`)
}

/** Reads every row. Throws a FatalError that names the damaged part. */
export async function requireWhole(archive: Archive): Promise<void> {
  for (const table of archive.manifest.tables) {
    const digest = new TableDigest()
    for await (const rows of archive.rows(table)) for (const row of rows) digest.add(writeRow(row))
    if (digest.hex() !== table.digest) throw notAsListed(table)
  }
}

/** The archived form of a table of this archive. */
export function archivedTable(archive: Archive, { name }: Table): ArchivedTable | undefined {
  return archive.manifest.tables.find((each) => each.name === name)
}
