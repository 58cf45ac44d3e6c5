/**
 * A checksum of a table's rows in any order, since the engines return them in different ones: the SHA-256 of each row,
 * added up in eight lanes of 32 bits. It finds what went wrong on the way; it is no protection from forgery.
 */
import { hash } from 'node:crypto'
import type { FatalError } from '../../core/fatal-error.ts'
import { badArchive } from './content.ts'

export class TableDigest {
  rows = 0
  readonly #lanes = new Uint32Array(8)

  add(line: string): void {
    const sum = hash('sha256', line, 'buffer')
    for (let lane = 0; lane < 8; lane++) this.#lanes[lane] = (this.#lanes[lane] as number) + sum.readUInt32LE(4 * lane)
    this.rows += 1
  }

  hex(): string {
    return Buffer.from(this.#lanes.buffer).toString('hex')
  }
}

export function notAsListed({ name }: { name: string }): FatalError {
  return badArchive(`table ${name} is not what the manifest says: the archive is damaged. Nothing was written`)
}
