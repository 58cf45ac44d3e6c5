/** A copy of the table, from what one consumer has received. Throws if an entry cannot follow those before it. */
import assert from 'node:assert/strict'
import type { ProductRow } from './rows.ts'

export interface Entry {
  cursor: string
  /** Such as product.created. */
  type: string
  version: number
  row: ProductRow
}

export const nameOf = (id: number, version: number) => `${id}@${version}`

export class Copy {
  /** Where the consumer goes on. */
  cursor: string
  /** All entries, as nameOf has them, in the order in which they came. */
  readonly received: string[] = []
  readonly rows = new Map<number, string>()
  readonly #versions = new Map<number, number>()
  readonly #deleted = new Set<number>()

  constructor(cursor: string) {
    this.cursor = cursor
  }

  apply({ cursor, type, version, row: { id, text } }: Entry): void {
    const before = this.#versions.get(id) ?? 0
    assert.equal(version, before + 1, `${id}: version ${version} came after ${before}`)
    this.#versions.set(id, version)
    const isThere = this.rows.has(id)
    if (type === 'product.created') assert.ok(!isThere && !this.#deleted.has(id), `${id} was created twice`)
    else if (type === 'product.updated') assert.ok(isThere, `${nameOf(id, version)} is a change, but is not there`)
    else if (type === 'product.restored') assert.ok(this.#deleted.delete(id), `${id} was restored, but not deleted`)
    else assert.equal(type, 'product.deleted')
    if (type === 'product.deleted') {
      // As it last was.
      assert.equal(text, this.rows.get(id), `${nameOf(id, version)} is a deletion`)
      this.rows.delete(id)
      this.#deleted.add(id)
    } else this.rows.set(id, text)
    this.received.push(nameOf(id, version))
    this.cursor = cursor
  }
}
