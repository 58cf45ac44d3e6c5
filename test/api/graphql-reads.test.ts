/** What a GraphQL list reads from the database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertMany } from '../../src/features/products/bulk.store.ts'
import { onAnyEngine } from '../support/databases.ts'
import { ask } from '../support/graphql.ts'
import { sampleRow } from '../support/products.ts'
import { recordReads } from '../support/record-reads.ts'
import { startApiWithRoles } from '../support/roles.ts'

/** Half of them are long enough to be read separately. */
const textOf = (i: number) => 'x'.repeat(i % 2 === 0 ? 3000 : 50_000)

onAnyEngine('a list in GraphQL', (engine) => {
  test('reads the selected fields, and no long text that is not selected', async (t) => {
    const api = await startApiWithRoles(t, { engine })
    const at = '2026-01-01T00:00:00.000Z'
    const products = Array.from({ length: 20 }, (_, i) => ({ ...sampleRow, name: `Lamp ${i}`, description: textOf(i) }))
    await api.db.write(
      insertMany(engine, products, at),
      ...products.map((_, i) => ({
        sql: 'INSERT INTO posts (title, body, created_at, updated_at) VALUES ($1, $2, $3, $3)',
        params: [`Post ${i}`, textOf(i), at],
      })),
    )
    const reads = recordReads(api.db)
    const readBy = async (document: string) => {
      reads.length = 0
      assert.equal((await ask(api, document)).errors, undefined, document)
      return reads.reduce((sum, length) => sum + length, 0)
    }
    for (const [short, long] of [
      ['posts { id title }', 'posts { body }'],
      ['products(q: "lamp") { data { name } }', 'products(q: "lamp") { data { description } }'],
      ['products(category: "general") { data { name } }', 'products(category: "general") { data { description } }'],
      ['products { data { name } }', 'products { data { description } }'],
    ]) {
      const [few, many] = [await readBy(`{ ${short} }`), await readBy(`{ ${long} }`)]
      assert.ok(few > 0 && few < 50_000, `${short} read ${few} characters`)
      assert.ok(many > 10 * 53_000, `${long} read ${many} characters`)
    }
  })
})
