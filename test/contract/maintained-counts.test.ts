import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Database, Dialect } from '../../src/platform/database/database.ts'
import { createMaintainedCounts, foldCounts } from '../../src/platform/database/maintained-counts.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'
import { many } from '../support/people.ts'

async function open(t: TestContext, engine: Dialect): Promise<Database> {
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  return db
}

/** Posts with just these ids. */
async function fill(db: Database, ids: readonly number[]): Promise<void> {
  const overriding = db.dialect === 'postgres' ? 'OVERRIDING SYSTEM VALUE' : ''
  const time = "'2026-01-01T00:00:00.000Z'"
  for (let at = 0; at < ids.length; at += 500) {
    const rows = ids.slice(at, at + 500).map((id) => `(${id}, 'x', 'y', ${time}, ${time})`)
    await db.write({
      sql: `INSERT INTO posts (id, title, body, created_at, updated_at) ${overriding} VALUES ${rows.join(', ')}`,
    })
  }
}

onEachEngine('kept counts', (engine) => {
  test('give the total and every position, with gaps, distant ids and deleted rows', async (t) => {
    const db = await open(t, engine)
    const counts = createMaintainedCounts(db)
    assert.deepEqual([await counts.total('posts'), (await counts.find('posts', 0)).skip], [0, 0])
    const ids = [
      ...(fc.sample(fc.uniqueArray(fc.integer({ min: 1, max: 60_000 }), { minLength: 1500, maxLength: 1500 }), {
        numRuns: 1,
        seed: 3,
      })[0] as number[]),
      5_000_000,
      5_000_001,
      2 ** 40,
      2 ** 40 + 1,
    ].toSorted((a, b) => a - b)
    await fill(db, ids)
    const gone = ids.filter((_, i) => i % 7 === 3)
    await db.write({ sql: `DELETE FROM posts WHERE id IN (${gone.join(', ')})` })
    const live = ids.filter((id) => !gone.includes(id))
    for (const isFolded of [false, true]) {
      if (isFolded) await foldCounts(db)
      assert.equal(await counts.total('posts'), live.length)
      for (const place of [0, 1, 63, 64, 127, 128, 500, live.length - 4, live.length - 2, live.length - 1]) {
        const { id, skip } = await counts.find('posts', place)
        const row = await db.get<{ id: number }>('SELECT id FROM posts WHERE id >= $1 ORDER BY id LIMIT 1 OFFSET $2', [
          id,
          skip,
        ])
        assert.equal(row?.id, live[place], `place ${place}`)
        assert.ok(skip < 128)
      }
      const beyond = await counts.find('posts', live.length)
      assert.equal(await db.get('SELECT id FROM posts WHERE id >= $1 ORDER BY id LIMIT 1', [beyond.id]), undefined)
    }
  })

  test('stay right while many write and add up at once', async (t) => {
    const db = await open(t, engine)
    const counts = createMaintainedCounts(db)
    const insert = `INSERT INTO posts (title, body, created_at, updated_at)
                    VALUES ('x', 'y', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z') RETURNING id`
    await many(100, async (i) => {
      const [[row]] = await db.write<{ id: number }>({ sql: insert })
      if (i % 4 === 0) await db.write({ sql: 'DELETE FROM posts WHERE id = $1', params: [row?.id ?? 0] })
      if (i % 10 === 0) await foldCounts(db)
      // Refused, so it is not counted.
      if (i % 5 === 0) await assert.rejects(db.write({ sql: insert }, { sql: 'SELECT nothing FROM nowhere' }))
    })
    assert.equal(await counts.total('posts'), 75)
    await foldCounts(db)
    assert.equal(await counts.total('posts'), 75)
    if (engine === 'postgres') assert.deepEqual(await db.all('SELECT * FROM kept_count_changes'), [])
  })

  test('follow changes made by hand in the database too', async (t) => {
    const db = await open(t, engine)
    const counts = createMaintainedCounts(db)
    const insert = `INSERT INTO products (name, name_key, slug, description, price_cents, deleted_at, created_at, updated_at)
                    VALUES ('x', 'x', 'x', '', 1, %, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`
    await db.write({ sql: insert.replace('%', 'NULL') })
    await db.write({ sql: insert.replace('%', "'2026-01-01T00:00:00.000Z'") })
    assert.equal(await counts.total('products'), 1)
    await db.write({ sql: 'UPDATE products SET deleted_at = NULL' })
    assert.equal(await counts.total('products'), 2)
    await db.write({ sql: 'DELETE FROM products WHERE id = 1' })
    assert.equal(await counts.total('products'), 1)
    if (engine === 'postgres') await db.write({ sql: 'TRUNCATE products' })
    else await db.write({ sql: 'DELETE FROM products' })
    assert.equal(await counts.total('products'), 0)
  })

  test('of different lists are separate', async (t) => {
    const db = await open(t, engine)
    const counts = createMaintainedCounts(db)
    await fill(db, [1, 2, 3])
    await db.write({
      sql: `INSERT INTO users (email, name, password_hash, created_at, updated_at)
            VALUES ('a@example.com', '', '-', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    })
    const totals = await Promise.all((['posts', 'users', 'audit', 'products'] as const).map(counts.total))
    assert.deepEqual(totals, [3, 1, 0, 0])
  })
})
