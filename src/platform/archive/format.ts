/**
 * The file format, as docs/backup.md describes it: a mark, then blocks of rows and the manifest as Zstandard frames, then
 * a seal with the length and the checksum of the manifest. Mark and seal are skippable frames, so that `zstd -dc` prints
 * the whole content as text.
 */
import type { FatalError } from '../../core/fatal-error.ts'
import type { Dialect } from '../database/database.ts'
import { type AppliedMigration, badArchive, type Table } from './content.ts'

export const formatVersion = 1

export interface Block {
  /** Compressed. */
  bytes: number
  /** Of the compressed bytes. */
  sha256: string
  /** Decompressed, in bytes. Archives of the first versions do not have it. */
  length?: number
}

export interface ArchivedTable extends Table {
  rows: number
  /** See table-digest.ts. */
  digest: string
  blocks: readonly Block[]
}

export interface Manifest {
  format: number
  /** The version of Latchkey that wrote it. */
  latchkey: string
  engine: Dialect
  takenAt: string
  migrations: readonly AppliedMigration[]
  countedLists: readonly string[]
  tables: readonly ArchivedTable[]
}

/** Rows are collected up to this length before they are compressed. */
export const blockLength = 1024 * 1024

/** Longer ones are not archived. Reading one takes several times as much memory. */
export const maxRowLength = 64 * 1024 * 1024

/** Decompressed: rows up to `blockLength` characters, and one more. */
export const maxBlockLength = maxRowLength + 4 * blockLength

/** Decompressed. It has some 150 bytes for each block. */
export const maxManifestLength = 32 * 1024 * 1024

// The numbers of skippable frames: https://www.rfc-editor.org/rfc/rfc8878#name-skippable-frames
const markNumber = 0x184d2a50
const sealNumber = 0x184d2a51

export const mark = skippable(markNumber, `latchkey archive ${formatVersion}\n`)

const markPattern = /^latchkey archive (\d{1,9})\n$/
const sealPattern = /^manifest (\d{12}) ([0-9a-f]{64})\n$/

export function createSeal({ bytes, sha256 }: Block): Buffer {
  return skippable(sealNumber, `manifest ${String(bytes).padStart(12, '0')} ${sha256}\n`)
}

export const sealLength = createSeal({ bytes: 0, sha256: '0'.repeat(64) }).length

/** Throws unless the file begins as an archive that this version can read. */
export function requireMark(found: Buffer, path: string): void {
  if (found.equals(mark)) return
  const version = Number(markPattern.exec(textOf(found, markNumber) ?? '')?.[1])
  if (version > formatVersion) throw newerFormat(path, version)
  throw badArchive(`${path} is no archive of Latchkey, or its beginning is damaged`)
}

export function newerFormat(path: string, version: number): FatalError {
  return badArchive(
    `${path} is an archive of format ${version}, and this version of Latchkey reads format ${formatVersion}: use the version that wrote it, or a newer one`,
  )
}

export function parseSeal(found: Buffer, path: string): Block {
  const match = sealPattern.exec(textOf(found, sealNumber) ?? '')
  if (!match) throw badArchive(`${path} is damaged or was cut off: it does not end with a seal. Nothing was written`)
  return { bytes: Number(match[1]), sha256: match[2] as string }
}

function skippable(number: number, text: string): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(number, 0)
  head.writeUInt32LE(Buffer.byteLength(text), 4)
  return Buffer.concat([head, Buffer.from(text)])
}

function textOf(frame: Buffer, number: number): string | undefined {
  if (frame.length < 8 || frame.readUInt32LE(0) !== number || frame.readUInt32LE(4) !== frame.length - 8)
    return undefined
  return frame.toString('latin1', 8)
}
