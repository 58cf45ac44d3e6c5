/** The source of an import: a file, which can be read again, or a stream, which cannot. */
import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { formatCount } from '../../platform/command-line/progress.ts'
import { formatOf } from './record-reader.ts'
import type { Format, Layout } from './records.ts'

export interface Source {
  /** Undefined for a stream. */
  size: number | undefined
  /** Each chunk is valid until the next one is requested. */
  chunks(onBytes: (read: number) => void): AsyncIterable<Buffer>
  /** A hash of the content and the layout. Undefined for a stream. */
  fingerprint: ((layout: Layout) => Promise<string>) | undefined
  close(): Promise<void>
}

const chunkBytes = 64 * 1024

export function requireFormat(path: string, { format }: { format?: Format }): Format {
  const found = format ?? formatOf(path)
  if (found) return found
  const reason =
    path === '-' ? 'standard input has no name' : `the name ${path} ends neither in .csv, .ndjson nor .jsonl`
  throw new FatalError(`${reason}; say --format csv or --format ndjson`, exitCodes.usage)
}

/** `--strict` checks the whole file before anything is imported. */
export function requireTwice({ fingerprint }: Source): void {
  if (fingerprint) return
  throw new FatalError('--strict reads the file twice, which standard input cannot be', exitCodes.usage)
}

export function nothingImported(rejected: number): FatalError {
  const rows = rejected === 1 ? '1 row is' : `${formatCount(rejected)} rows are`
  return new FatalError(`${rows} wrong; nothing was imported`, exitCodes.badData)
}

export function alreadyImported(path: string, finishedAt: string): FatalError {
  const when = `${finishedAt.slice(0, 10)} at ${finishedAt.slice(11, 16)} UTC`
  return new FatalError(`${path} was imported on ${when}; --again imports it once more`, exitCodes.failure)
}

/** `-` is standard input. */
export async function openSource(path: string, signal: AbortSignal): Promise<Source> {
  if (path === '-') return streamSource(process.stdin, signal)
  let file: FileHandle
  try {
    file = await open(path)
  } catch (error) {
    throw cannotRead(path, error)
  }
  const stats = await file.stat()
  if (stats.isFile()) return fileSource(path, file, { size: stats.size, signal })
  await file.close()
  if (stats.isDirectory()) throw cannotRead(path, { code: 'EISDIR' })
  // A named pipe, or process substitution: <(command).
  return streamSource(createReadStream(path), signal)
}

function streamSource(stream: Readable, signal: AbortSignal): Source {
  addAbortSignal(signal, stream)
  return {
    size: undefined,
    async *chunks(onBytes) {
      let read = 0
      for await (const chunk of stream) {
        yield chunk
        read += chunk.length
        onBytes(read)
      }
    },
    fingerprint: undefined,
    close: async () => void stream.destroy(),
  }
}

function fileSource(path: string, file: FileHandle, { size, signal }: { size: number; signal: AbortSignal }): Source {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)

  /** Data appended in the meantime is not read, as it is not in the fingerprint. */
  async function* chunks(onBytes: (read: number) => void): AsyncGenerator<Buffer> {
    for (let at = 0; at < size; ) {
      signal.throwIfAborted()
      const { bytesRead } = await read(at)
      if (bytesRead === 0) throw new FatalError(`${path} has become shorter while it was read`, exitCodes.badData)
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
      onBytes(at)
    }
  }

  async function read(at: number): Promise<{ bytesRead: number }> {
    try {
      return await file.read(buffer, 0, Math.min(chunkBytes, size - at), at)
    } catch (error) {
      throw cannotRead(path, error)
    }
  }

  return {
    size,
    chunks,
    async fingerprint(layout) {
      // The whole content, so that files that differ only in the middle are told apart.
      const sum = beginFingerprint(layout)
      for await (const chunk of chunks(() => {})) sum.update(chunk)
      return sum.digest('hex')
    },
    close: () => file.close(),
  }
}

/** The hash that identifies a file; its content follows. */
export function beginFingerprint({ format, delimiter, isExact }: Layout): Hash {
  return createHash('sha256').update(format === 'csv' ? `csv ${delimiter}${isExact ? ' exact' : ''}\n` : 'ndjson\n')
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

function cannotRead(path: string, error: unknown): FatalError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const reason = reasons[code] ?? (error as Error).message
  return new FatalError(`cannot read ${path}: ${reason}`, exitCodes.noInput, { cause: error })
}
