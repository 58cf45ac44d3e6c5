/** Writes a file atomically: under a temporary name, renamed when it is complete. */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import { namePartialFile, removeLeftovers } from './partial-files.ts'

export interface OutputFile {
  write(data: string | Uint8Array): Promise<void>
  finish(): Promise<void>
  /** Removes the temporary file. */
  discard(): Promise<void>
}

export interface OutputFileOptions {
  canReplace: boolean
  /** By default the mode of other new files, according to the umask. */
  mode?: number
}

/** A large file is flushed as it grows, because flushing it at once would hold up other writers on the disk. */
const flushBytes = 8 * 1024 * 1024

export async function createOutputFile(path: string, { canReplace, mode }: OutputFileOptions): Promise<OutputFile> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw cannotWrite(path, 'it is a folder')
  if (existing?.isFile() && !canReplace) throw cannotWrite(path, 'it exists; --force replaces it')
  // A device or a pipe is written directly; a rename would replace it with a file.
  const isSpecial = existing !== undefined && !existing.isFile()
  // Replace the target of a symbolic link, not the link.
  const target = existing ? await realpath(path) : path
  const partial = isSpecial ? undefined : namePartialFile(target)
  const temporary = partial?.path ?? target
  const orCannotWrite = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw cannotWrite(path, (error as Error).message, error)
    }
  }
  const file: FileHandle = await orCannotWrite(() => open(temporary, isSpecial ? 'w' : 'wx', mode))
  // They only take room, so whatever prevents this is no reason to stop.
  if (!isSpecial) await removeLeftovers(target, temporary).catch(() => {})
  let unflushed = 0
  return {
    write: (data) =>
      orCannotWrite(async () => {
        await file.writeFile(data)
        unflushed += data.length
        if (isSpecial || unflushed < flushBytes) return
        unflushed = 0
        await file.datasync()
      }),
    finish: () =>
      orCannotWrite(async () => {
        if (!isSpecial) await file.sync()
        await file.close()
        if (isSpecial) return
        await rename(temporary, target)
        partial?.release()
        await syncFolder(dirname(target))
      }),
    async discard() {
      await file.close()
      if (!isSpecial) await rm(temporary, { force: true })
      partial?.release()
    },
  }
}

/** Makes the new name durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function cannotWrite(path: string, reason: string, cause?: unknown): FatalError {
  return new FatalError(`cannot write ${path}: ${reason}`, exitCodes.cannotCreate, { cause })
}

/** Resolves when the reader has consumed the text. A closed pipe ends the process (main.ts). */
export function writeToStandardOutput(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, (error) => error ?? resolve()))
}
