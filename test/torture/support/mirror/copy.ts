/** A copy of the table, from what one consumer has received. Throws if an entry cannot follow those before it. */
import assert from 'node:assert/strict'
import type { ProductRow } from './rows.ts'

export interface Entry {
  cursor: string
  /** Such as product.created. */
  type: string
  row: ProductRow
}

export class Copy {
  /** Where the consumer goes on. */
  cursor: string
  /** The cursors of all entries, in the order in which they came. */
  readonly received: number[] = []
  readonly rows = new Map<number, string>()
  readonly #deleted = new Set<number>()

  constructor(cursor: string) {
    this.cursor = cursor
  }

  apply({ cursor, type, row: { id, text } }: Entry): void {
    const before = this.received.at(-1) ?? 0
    assert.ok(Number(cursor) > before, `${cursor} came after ${before}`)
    const isThere = this.rows.has(id)
    if (type === 'product.created') assert.ok(!isThere && !this.#deleted.has(id), `${id} was created twice`)
    else if (type === 'product.updated') assert.ok(isThere, `${id} was changed at ${cursor}, but is not there`)
    else if (type === 'product.restored') assert.ok(this.#deleted.delete(id), `${id} was restored, but not deleted`)
    else assert.equal(type, 'product.deleted')
    if (type === 'product.deleted') {
      // As it last was.
      assert.equal(text, this.rows.get(id), `${id} was deleted at ${cursor}`)
      this.rows.delete(id)
      this.#deleted.add(id)
    } else this.rows.set(id, text)
    this.received.push(Number(cursor))
    this.cursor = cursor
  }
}
