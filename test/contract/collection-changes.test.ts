/** Each change of a row of a collection is in the change log, whoever makes it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { describeCollections } from '../../src/collections/declare/describe.ts'
import { boolean, decimal, integer, json, list, text, time } from '../../src/collections/declare/fields.ts'
import { createLogTriggers } from '../../src/collections/schema/change-log.ts'
import { createTables } from '../../src/collections/schema/tables.ts'
import type { Dialect, Value } from '../../src/platform/database/database.ts'
import { openDatabase } from '../../src/platform/database/open.ts'
import { createDatabaseUrl, onEachEngine } from '../support/databases.ts'
import { openOptions, ownMigrations } from '../support/migrations.ts'

/** More fields than a function of PostgreSQL has arguments. */
const numbers = Array.from({ length: 60 }, (_, i) => `number_${i}`)

const entries = {
  // A word that SQL reserves.
  name: 'references',
  fields: {
    order: text(),
    cost: decimal({ scale: 2, optional: true }),
    urgent: boolean({ default: false }),
    seen: time({ optional: true }),
    tags: list(text()),
    extra: json({ optional: true }),
    ...Object.fromEntries(numbers.map((name) => [name, integer({ optional: true })])),
  },
}
const [collection] = describeCollections([entries], () => undefined)
const [early, later] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']

interface Logged {
  type: string
  actor_id: number | null
  at: string
  data: string
}

async function open(t: TestContext, engine: Dialect) {
  assert.ok(collection)
  const url = await createDatabaseUrl(t, engine)
  const { db } = await openDatabase(openOptions({ url, migrations: ownMigrations }))
  t.after(() => db.close())
  for (const sql of [...createTables(collection, engine), ...createLogTriggers(collection, engine)])
    await db.write({ sql })
  const insert = `INSERT INTO "references" ("order", cost, urgent, seen, tags, extra, created_at, updated_at, changed_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)`
  const run = (sql: string, ...params: Value[]) => db.write({ sql, params })
  return {
    run,
    insert: (order: string, by: number | null) =>
      run(insert, order, 950, true, later, '["a","b"]', '{"deep":[1,null]}', early, by),
    /** The entries since the last call. */
    async read(): Promise<Logged[]> {
      const found = await db.all<Logged>(
        "SELECT type, actor_id, at, data FROM changes WHERE topic = 'references' ORDER BY id",
      )
      await db.write({ sql: "DELETE FROM changes WHERE topic = 'references'" })
      return found
    },
  }
}

onEachEngine('a row of a collection', (engine) => {
  test('is logged as it is after each change, with its editor; a deleted one as it last was', async (t) => {
    const { run, insert, read } = await open(t, engine)
    await insert('first', 7)
    const [created] = await read()
    assert.deepEqual([created?.type, created?.actor_id, created?.at], ['reference.created', 7, early])
    assert.deepEqual(JSON.parse(created?.data ?? ''), {
      id: 1,
      order: 'first',
      cost: 950,
      urgent: true,
      seen: later,
      tags: ['a', 'b'],
      extra: { deep: [1, null] },
      ...Object.fromEntries(numbers.map((name) => [name, null])),
      version: 1,
      created_at: early,
      updated_at: early,
    })

    const change = `version = version + 1, updated_at = $1, changed_by = $2, changed_by_version = version + 1 WHERE id = 1`
    await run(`UPDATE "references" SET "order" = 'second', ${change}`, later, 8)
    await run(`UPDATE "references" SET deleted_at = $1, ${change}`, later, 9)
    await run(`UPDATE "references" SET deleted_at = NULL, ${change}`, later, 10)
    await run('DELETE FROM "references" WHERE id = 1')
    const shown = (await read()).map(({ type, actor_id, data: text }) => {
      const { order, version } = JSON.parse(text)
      return [type, actor_id, order, version]
    })
    assert.deepEqual(shown, [
      ['reference.updated', 8, 'second', 2],
      ['reference.deleted', 9, 'second', 2],
      ['reference.restored', 10, 'second', 4],
      ['reference.deleted', null, 'second', 4],
    ])
  })

  test('is logged when a statement knows nothing of versions and editors, once, and as nobody', async (t) => {
    const { run, insert, read } = await open(t, engine)
    await insert('first', 7)
    await insert('second', null)
    await read()
    await run(`UPDATE "references" SET "order" = 'changed'`)
    const logged = await read()
    assert.deepEqual(
      logged.map(({ type, actor_id, data }) => [type, actor_id, JSON.parse(data).order, JSON.parse(data).version]),
      [
        ['reference.updated', null, 'changed', 2],
        ['reference.updated', null, 'changed', 2],
      ],
    )
    assert.ok(logged.every(({ at }) => at > later))
    await run('UPDATE "references" SET deleted_at = $1 WHERE id = 1', later)
    await run('UPDATE "references" SET "order" = \'silent\' WHERE id = 1')
    assert.deepEqual(
      (await read()).map(({ type, actor_id }) => [type, actor_id]),
      [['reference.deleted', null]],
    )
  })

  test('has its list in the table by which lists are searched', async (t) => {
    const { run, insert } = await open(t, engine)
    await insert('first', 7)
    await insert('second', 7)
    const found = async () => {
      const [rows] = await run(
        `UPDATE "references" SET cost = 1 WHERE id IN (SELECT row_id FROM references__tags WHERE value = 'a') RETURNING id`,
      )
      return (rows as { id: number }[]).map(({ id }) => id).sort()
    }
    assert.deepEqual(await found(), [1, 2])
    await run('UPDATE "references" SET tags = \'["b","b"]\' WHERE id = 1')
    assert.deepEqual(await found(), [2])
    await run('DELETE FROM "references" WHERE id = 2')
    assert.deepEqual(await found(), [])
  })
})
