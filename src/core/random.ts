/** The only source of randomness. */
import { randomBytes } from 'node:crypto'

export interface Random {
  bytes(length: number): Buffer
  /** 128 random bits in base64url. */
  id(): string
  /** In [0, 1), for jitter. */
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
