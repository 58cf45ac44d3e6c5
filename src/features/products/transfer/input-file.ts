/** Where records come from: a file, which can be read again from its beginning, or a stream, which cannot. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { exitCodes, FatalError } from '../../../core/fatal-error.ts'
import type { Layout } from './records.ts'

export interface Source {
  /** Undefined where nobody knows. */
  size: number | undefined
  /** Each chunk is valid until the next one is asked for. */
  chunks(onBytes: (read: number) => void): AsyncIterable<Buffer>
  /** Tells the content, and how it is read, from any other. Undefined for a stream. */
  fingerprint: ((layout: Layout) => Promise<string>) | undefined
  close(): Promise<void>
}

const chunkBytes = 64 * 1024

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
  // A named pipe, or what a shell makes of <(command).
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

  /** What is added to the file meanwhile is not read: it is not in the fingerprint either. */
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
    async fingerprint({ format, delimiter, isExact }) {
      const layout = format === 'csv' ? `csv ${delimiter}${isExact ? ' exact' : ''}\n` : 'ndjson\n'
      // All of it: of two files that differ in the middle, none must pass for the other.
      const sum = createHash('sha256').update(layout)
      for await (const chunk of chunks(() => {})) sum.update(chunk)
      return sum.digest('hex')
    },
    close: () => file.close(),
  }
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
