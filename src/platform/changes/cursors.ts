/**
 * Cursors as clients get them: a position of the log, encrypted with a fresh nonce, so that nobody can tell whether two are the
 * same or how far they are apart. Positions count what others do, such as failed sign-ins.
 *
 * 48 characters of base64url: nonce (12 bytes), position (8 bytes), tag (16 bytes) of AES-256-GCM.
 *
 * Nodes of the release before issue and read decimal positions. As long as one of them is there, this one issues them, too.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import type { Random } from '../../core/random.ts'
import type { Database } from '../database/database.ts'
import { validationFailed } from '../validation/body-validation.ts'
import { beginning, cursorExpired } from './change.ts'
import { type CursorFormat, type CursorStore, createCursorStore } from './cursors.store.ts'

export interface Cursors {
  /** Another one with each call. Call `refresh` after the position was read. */
  issue(position: number): string
  /** Throws 422 on what was never a cursor, and 410 on one of another key or one that must have been read from elsewhere. */
  parse(text: string): number
  /** A name of the entry that is the same on all nodes and reveals as little as a cursor. Decimal like those of the release before. */
  nameOf(position: number): string
  /** Reads whether cursors are encrypted by now. Without a query once they are. */
  refresh(): Promise<void>
  /** Undefined once cursors are encrypted for good. */
  readonly pending: Pick<CursorStore, 'encrypt'> | undefined
}

export interface CursorsDeps {
  db: Database
  /** The first one encrypts, all of them decrypt. */
  keys: readonly Buffer[]
  random: Random
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const positionBytes = 8
const tagBytes = 16
const plainPattern = /^\d{1,16}$/
const encryptedPattern = /^[\w-]{48}$/
const noncesAtOnce = 256
const nameLength = 32

export async function createCursors({ db, keys, random }: CursorsDeps): Promise<Cursors> {
  const store = createCursorStore(db)
  const secrets = keys.map((key) => createSecretKey(key))
  const [current] = secrets as [KeyObject, ...KeyObject[]]
  const nextNonce = createNonces(random)
  let format: CursorFormat = await store.read()

  function decrypt(bytes: Buffer): number | undefined {
    for (const secret of secrets) {
      const decipher = createDecipheriv(algorithm, secret, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
      const position = decipher.update(bytes.subarray(nonceBytes, nonceBytes + positionBytes))
      decipher.setAuthTag(bytes.subarray(nonceBytes + positionBytes))
      try {
        decipher.final()
        return Number(position.readBigUInt64BE())
      } catch {
        // Another key may fit.
      }
    }
    return undefined
  }

  const isPlain = (position: number) => format.plain_until === null || position <= format.plain_until

  return {
    issue(position) {
      if (!format.is_encrypted) return String(position)
      const bytes = Buffer.allocUnsafe(nonceBytes + positionBytes + tagBytes)
      const nonce = bytes.subarray(0, nonceBytes)
      nextNonce(nonce)
      bytes.writeBigUInt64BE(BigInt(position), nonceBytes)
      const cipher = createCipheriv(algorithm, current, nonce, { authTagLength: tagBytes })
      cipher.update(bytes.subarray(nonceBytes, nonceBytes + positionBytes)).copy(bytes, nonceBytes)
      cipher.final()
      cipher.getAuthTag().copy(bytes, nonceBytes + positionBytes)
      return bytes.toString('base64url')
    },

    parse(text) {
      if (encryptedPattern.test(text)) {
        const position = decrypt(Buffer.from(text, 'base64url'))
        if (position === undefined) throw cursorExpired()
        return position
      }
      const position = plainPattern.test(text) ? Number(text) : Number.NaN
      if (!Number.isSafeInteger(position)) throw validationFailed({ after: ['Must be a cursor'] })
      // A number beyond the last one that was issued is a guess.
      if (position !== beginning && !isPlain(position)) throw cursorExpired()
      return position
    },

    nameOf(position) {
      if (isPlain(position)) return String(position)
      return createHmac('sha256', current).update(`change ${position}`).digest('hex').slice(0, nameLength)
    },

    async refresh() {
      if (format.plain_until === null) format = await store.read()
    },

    get pending() {
      return format.plain_until === null ? store : undefined
    },
  }
}

/** Random bytes in advance: fetching them one by one takes longer than the encryption. */
function createNonces(random: Random): (target: Buffer) => void {
  let bytes: Uint8Array = new Uint8Array()
  let used = 0
  return (target) => {
    if (used === bytes.length) {
      bytes = random.bytes(noncesAtOnce * nonceBytes)
      used = 0
    }
    target.set(bytes.subarray(used, used + nonceBytes))
    used += nonceBytes
  }
}
