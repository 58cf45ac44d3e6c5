/** The change log while transactions overlap: they are held open by hand, so only PostgreSQL can have them. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { type Api, shareApi, startApi } from '../support/api.ts'
import { openChanges, readChanges, told } from '../support/changes.ts'
import { engines } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { signIn } from '../support/people.ts'
import { createProduct, productsPath } from '../support/products.ts'
import { amount } from '../support/tiers.ts'

const insert = `INSERT INTO products (name, name_key, slug, description, price_cents, created_at, updated_at)
  VALUES (CAST($1 AS TEXT), lower($1), 'slug', '', 100, now(), now())`

async function connect(t: TestContext, api: Api): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: api.databaseUrl })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

const namesAfter = async (api: Api, after: string) => told((await readChanges(api, { after })).body.data)

/** Reads page by page, to the end. */
async function lastNames(api: Api, start: string): Promise<string[]> {
  const names: string[] = []
  let after = start
  for (let more = true; more; ) {
    const { body } = await readChanges(api, { after, limit: 1000 })
    names.push(...told(body.data))
    after = body.meta.cursor
    more = body.meta.more
  }
  return names
}

async function heldBack(api: Api): Promise<number> {
  const { body } = await api.get('/metrics')
  return Number(/^change_log_held_back_seconds (\S+)$/m.exec(body)?.[1])
}

if (engines.includes('postgres')) {
  const engine = 'postgres'
  describe('the order of the change log', () => {
    const shared = shareApi({ engine })

    test('a transaction that began first and commits last is missed by nobody', async (t) => {
      const api = await shared()
      const { access } = await signIn(api)
      const before = (await api.get(productsPath)).body.meta.total
      const start = (await readChanges(api)).body.meta.cursor
      const stream = await openChanges(t, api.url)
      const [early, late] = [await connect(t, api), await connect(t, api)]
      await early.query('BEGIN')
      await early.query(insert, ['Early'])
      await late.query('BEGIN')
      await late.query(insert, ['Late'])
      await late.query('COMMIT')
      await createProduct(api, access, { name: 'By the service' })

      // They are in the table, but a cursor behind them would skip the first one.
      const held = await readChanges(api, { after: start })
      assert.deepEqual([held.body.data, held.body.meta.more], [[], false])
      const listed = await api.get(productsPath)
      assert.equal(listed.body.meta.total, before + 2)
      const [ofList, ofPage] = [listed.headers.get('x-cursor') ?? '', held.body.meta.cursor]
      await eventually(async () => assert.ok((await heldBack(api)) > 0))
      // Another node, which starts while the transaction is open, must not begin behind it either.
      const other = await startApi(t, { engine, env: { DATABASE_URL: api.databaseUrl } })
      const ofOther = (await readChanges(other)).body.meta.cursor
      const waiting = readChanges(other, { after: start, wait: 30 })

      await early.query('COMMIT')
      const expected = ['created Early', 'created Late', 'created By the service']
      assert.deepEqual(told((await waiting).body.data), expected)
      for (const each of [start, ofList, ofPage, ofOther]) assert.deepEqual(await namesAfter(api, each), expected)
      await eventually(() => assert.deepEqual(told(stream.changes), expected))
      await eventually(async () => assert.equal(await heldBack(api), 0))
    })

    test('what was rolled back holds nobody up, even while a stranger keeps a transaction open', async (t) => {
      const api = await shared()
      const start = (await readChanges(api)).body.meta.cursor
      const [stranger, early, late] = [await connect(t, api), await connect(t, api), await connect(t, api)]
      await stranger.query('CREATE TABLE strange (id INT)')
      await stranger.query('BEGIN')
      await stranger.query('INSERT INTO strange VALUES (1)')
      await early.query('BEGIN')
      await early.query(insert, ['Early'])
      await late.query(insert, ['Late'])
      assert.deepEqual(await namesAfter(api, start), [])
      await early.query('ROLLBACK')
      assert.deepEqual(await namesAfter(api, start), ['created Late'])
    })

    test('the entries of a product come in the order of its versions, whichever transaction is older', async (t) => {
      const api = await shared()
      const { access } = await signIn(api)
      const id = await createProduct(api, access, { name: 'v1' })
      const start = (await readChanges(api)).body.meta.cursor
      const old = await connect(t, api)
      await old.query('BEGIN')
      // Gets its number as a transaction here, before the other one.
      await old.query(insert, ['Other'])
      await api.put(`${productsPath}/${id}`, { name: 'v2' }, access)
      await old.query('UPDATE products SET name = $1, version = version + 1 WHERE id = $2', ['v3', id])
      await old.query('COMMIT')
      assert.deepEqual(await namesAfter(api, start), ['created Other', 'updated v2', 'updated v3'])
      await old.query('DELETE FROM products WHERE id = $1', [id])
      assert.equal((await namesAfter(api, start)).at(-1), 'deleted v3')
    })

    test('a node that is far behind catches up, also while others write', async (t) => {
      const api = await shared()
      const start = (await readChanges(api)).body.meta.cursor
      const [many, open] = [await connect(t, api), await connect(t, api)]
      const insertMany = `INSERT INTO changes (topic, type, at, data)
        SELECT 'other', 'other', now(), '{}' FROM generate_series(1, 5000)`
      await many.query(insertMany)
      await many.query(insert, ['After many'])
      assert.deepEqual(await lastNames(api, start), ['created After many'])
      // A listing may be a second behind what others have written.
      await eventually(async () => {
        const { headers } = await api.get(productsPath)
        assert.deepEqual(await namesAfter(api, headers.get('x-cursor') ?? ''), [])
      })

      await open.query('BEGIN')
      await open.query(insert, ['Open'])
      await many.query(insertMany)
      await many.query(insert, ['Last'])
      assert.deepEqual(await lastNames(api, start), ['created After many'])
      await open.query('COMMIT')
      const expected = ['created After many', 'created Open', 'created Last']
      await eventually(async () => assert.deepEqual(await lastNames(api, start), expected))
    })

    test('entries that a promoted standby does not have are not shown from memory', async (t) => {
      const api = await startApi(t, { engine, threads: 1 })
      const { access } = await signIn(api)
      const start = (await readChanges(api)).body.meta.cursor
      const stream = await openChanges(t, api.url)
      for (const name of ['Lost', 'Lost too']) await createProduct(api, access, { name })
      await eventually(() => assert.equal(stream.changes.length, 2))
      const client = await connect(t, api)
      const { rows } = await client.query("DELETE FROM changes WHERE topic = 'products' RETURNING id")
      await client.query(`ALTER TABLE changes ALTER COLUMN id RESTART WITH ${rows[0].id}`)
      await client.query(insert, ['Other'])
      assert.deepEqual(await namesAfter(api, start), ['created Other'])
    })

    test('a position is never taken back while many write, roll back and read at once', async (t) => {
      const api = await shared()
      const start = (await readChanges(api)).body.meta.cursor
      const clients = await Promise.all(Array.from({ length: 6 }, () => connect(t, api)))
      const rounds = amount({ full: 25, otherwise: 10 })
      let isOver = false
      const writers = clients.map(async (client, i) => {
        for (let n = 0; n < rounds; n++) {
          await client.query('BEGIN')
          await client.query(insert, [`${i}-${n}`])
          if (n % 3 === 0) await client.query('SELECT pg_sleep(0.01)')
          await client.query((i + n) % 5 === 0 ? 'ROLLBACK' : 'COMMIT')
        }
      })
      const read: string[] = []
      const reader = (async () => {
        let cursor = start
        let isLast = false
        while (!isLast) {
          isLast = isOver
          const { body } = await readChanges(api, { after: cursor })
          read.push(...body.data.map(({ data }) => data.attributes.name))
          cursor = body.meta.cursor
        }
      })()
      await Promise.all(writers)
      isOver = true
      await reader
      const [client] = clients as [pg.Client]
      const { rows } = await client.query("SELECT name FROM products WHERE name ~ '^[0-9]+-[0-9]+$' ORDER BY name")
      assert.deepEqual(
        read.toSorted(),
        rows.map(({ name }) => name),
      )
    })
  })
}
