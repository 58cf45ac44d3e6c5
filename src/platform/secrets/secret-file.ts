/** A random secret, generated once and stored in a file that only its owner can read. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'
import type { Random } from '../../core/random.ts'

/** Two processes that start at once get the same secret. */
export function findOrCreateSecret(path: string, random: Random): { secret: string; isNew: boolean } {
  const found = readSecret(path)
  if (found !== undefined) return { secret: found, isNew: false }
  // Written to a temporary file, then linked: a reader never sees half a secret, and an existing one is not replaced.
  const aside = `${path}.${random.id()}`
  try {
    writeFileSync(aside, `${random.bytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    linkSync(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new FatalError(`cannot write ${path}: ${(error as Error).message}`, exitCodes.cannotCreate, {
        cause: error,
      })
    }
  } finally {
    rmSync(aside, { force: true })
  }
  return { secret: readSecret(path) as string, isNew: true }
}

/** Undefined if there is no secret, or if this user cannot read it. */
export function readSecretIfPossible(path: string): string | undefined {
  try {
    return readSecret(path)
  } catch {
    return undefined
  }
}

function readSecret(path: string): string | undefined {
  try {
    const secret = readFileSync(path, 'utf8').trim()
    if (Buffer.byteLength(secret) >= 32) return secret
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new FatalError(`cannot read ${path}: ${(error as Error).message}`, exitCodes.cannotCreate, { cause: error })
  }
  throw new FatalError(
    `${path} holds no secret of at least 32 bytes; remove it to have one made`,
    exitCodes.configuration,
  )
}
