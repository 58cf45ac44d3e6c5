/** The one source of randomness. */
import { randomBytes } from 'node:crypto'

export interface Random {
  bytes(length: number): Buffer
  /** An unguessable name of 128 bits, safe in URLs. */
  id(): string
  /** From 0 up to but not including 1, for jitter. */
  fraction(): number
}

export function createRandom(bytes: (length: number) => Buffer): Random {
  return {
    bytes,
    id: () => bytes(16).toString('base64url'),
    fraction: () => bytes(4).readUInt32BE() / 2 ** 32,
  }
}

export const systemRandom: Random = createRandom(randomBytes)
