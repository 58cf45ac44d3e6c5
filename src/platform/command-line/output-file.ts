/** A file that is whole or not there: it gets its name when everything has been written. */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

export interface OutputFile {
  write(text: string): Promise<void>
  /** Gives the file its name. */
  finish(): Promise<void>
  /** Leaves no trace of it. */
  discard(): Promise<void>
}

export async function createOutputFile(path: string, { canReplace }: { canReplace: boolean }): Promise<OutputFile> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw cannotWrite(path, 'it is a folder')
  if (existing?.isFile() && !canReplace) throw cannotWrite(path, 'it exists; --force replaces it')
  // A device or a pipe has no other name, and must not be replaced by a file.
  const isSpecial = existing !== undefined && !existing.isFile()
  // Through a link to the file that it names.
  const target = existing ? await realpath(path) : path
  const temporary = isSpecial ? target : `${target}.${process.pid}.partial`
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw cannotWrite(path, (error as Error).message, error)
    }
  }
  const file: FileHandle = await told(() => open(temporary, isSpecial ? 'w' : 'wx'))
  return {
    write: (text) => told(() => file.writeFile(text)),
    finish: () =>
      told(async () => {
        if (!isSpecial) await file.sync()
        await file.close()
        if (!isSpecial) await rename(temporary, target)
      }),
    async discard() {
      await file.close()
      if (!isSpecial) await rm(temporary, { force: true })
    },
  }
}

function cannotWrite(path: string, reason: string, cause?: unknown): FatalError {
  return new FatalError(`cannot write ${path}: ${reason}`, exitCodes.cannotCreate, { cause })
}
