/** Writes content as an archive, in a stream: memory does not grow with the database. */
import { hash } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Content, OnProgress, Table } from './content.ts'
import {
  type ArchivedTable,
  type Block,
  blockLength,
  createSeal,
  formatVersion,
  type Manifest,
  mark,
  maxRowLength,
} from './format.ts'
import { writeRow } from './row-text.ts'
import { TableDigest } from './table-digest.ts'

export type WriteBytes = (bytes: Uint8Array) => Promise<void>

export interface ArchiveWriting {
  content: Content
  version: string
  takenAt: string
  write: WriteBytes
  onProgress?: OnProgress | undefined
}

export async function writeArchive({
  content,
  version,
  takenAt,
  write,
  onProgress,
}: ArchiveWriting): Promise<Manifest> {
  let written = 0
  const onRows = (rows: number) => {
    written += rows
    onProgress?.({ step: 'writing', rows: written, total: content.estimatedRows })
  }

  await write(mark)
  const tables: ArchivedTable[] = []
  for (const table of content.tables) tables.push(await writeTable(table, { content, write, onRows }))
  const manifest: Manifest = {
    format: formatVersion,
    latchkey: version,
    engine: content.dialect,
    takenAt,
    migrations: content.migrations,
    countedLists: content.countedLists,
    tables,
  }
  const block = await writeBlock(`${JSON.stringify(manifest)}\n`, write)
  await write(createSeal(block))
  return manifest
}

interface TableWriting {
  content: Content
  write: WriteBytes
  onRows(rows: number): void
}

async function writeTable(table: Table, { content, write, onRows }: TableWriting): Promise<ArchivedTable> {
  const digest = new TableDigest()
  const blocks: Block[] = []
  let text = `${JSON.stringify({ table: table.name, columns: table.columns.map(({ name }) => name) })}\n`
  for await (const rows of content.rows(table)) {
    for (const row of rows) {
      const line = writeRow(row)
      if (Buffer.byteLength(line) > maxRowLength) throw tooLong(table)
      digest.add(line)
      text += `${line}\n`
      if (text.length >= blockLength) {
        blocks.push(await writeBlock(text, write))
        text = ''
      }
    }
    onRows(rows.length)
  }
  if (text !== '') blocks.push(await writeBlock(text, write))
  return { ...table, rows: digest.rows, digest: digest.hex(), blocks }
}

async function writeBlock(text: string, write: WriteBytes): Promise<Block> {
  const bytes = Buffer.from(text)
  // Not on the pool of threads, which the service needs for other things.
  const compressed = zstdCompressSync(bytes)
  await write(compressed)
  return { bytes: compressed.length, sha256: hash('sha256', compressed), length: bytes.length }
}

function tooLong({ name }: Table): FatalError {
  const megabytes = maxRowLength / 1024 / 1024
  return new FatalError(
    `a row of table ${name} is longer than ${megabytes} MiB, so it cannot be archived`,
    exitCodes.failure,
  )
}
