/** AES-256-GCM with key rotation. A ciphertext names its key: the first key encrypts, all of them decrypt. */
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import type { Random } from '../../core/random.ts'

export interface Encryption {
  encrypt(text: string): string
  /** Throws if no key fits or the text was tampered with. `isOutdated`: encrypted with a previous key. */
  decrypt(ciphertext: string): { text: string; isOutdated: boolean }
}

interface Key {
  id: string
  bytes: Buffer
}

export function createEncryption(secrets: readonly string[], random: Random): Encryption {
  const keys = secrets.map(toKey)
  const [current] = keys
  if (!current) throw new Error('encryption needs a secret')
  return {
    encrypt(text) {
      const nonce = random.bytes(12)
      const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return ['v1', current.id, ...[nonce, body, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join(
        '.',
      )
    },
    decrypt(ciphertext) {
      const [version, id, ...parts] = ciphertext.split('.')
      const [nonce, body, tag] = parts.map((part) => Buffer.from(part, 'base64url'))
      const key = keys.find((each) => each.id === id)
      if (version !== 'v1' || !key || !nonce || !body || !tag) throw new Error('no key fits this ciphertext')
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, nonce)
      decipher.setAuthTag(tag)
      const text = Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
      return { text, isOutdated: key !== current }
    },
  }
}

function toKey(secret: string): Key {
  const bytes = deriveKey(secret, 'encryption')
  return { id: hash('sha256', bytes, 'hex').slice(0, 8), bytes }
}

export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `latchkey ${purpose}`, 32))
}
